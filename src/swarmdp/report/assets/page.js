"use strict";
// Copy what stands beside the button; where the browser refuses, select it for the keyboard.
for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("pre");
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

// Contents stand open beside the page where there is room; what is folded opens for its link and on paper.
const contents = document.querySelector(".contents details");
if (contents) contents.open = matchMedia("(min-width: 68rem)").matches;
for (const link of document.querySelectorAll(".contents a")) {
  link.addEventListener("click", () => {
    const fold = document.querySelector(link.getAttribute("href"))?.closest("details");
    if (fold) fold.open = true;
  });
}
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("main details")) fold.open = true;
});

// What is wider than its place fades out where it goes on, and says so.
for (const wide of document.querySelectorAll(".scroll, .rows")) {
  const look = () => {
    const rest = wide.scrollWidth - wide.clientWidth - wide.scrollLeft;
    wide.classList.toggle("overflows", rest > 2);
  };
  wide.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(wide);
  look();
}
