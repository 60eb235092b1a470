// Files of the folder, and what is taken away: script, link, picture, GIF, page.
import { bytes, element, find } from "./words.js";

const MEDIA = { gif: "image/gif", html: "text/html" };

const download = (blob, name) => {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};

export class Keeping {
  constructor({ say, canvases, label }) {
    Object.assign(this, { say, canvases, label, entries: [], current: null });
    find("script").onclick = () => this.ask("script", "Writing the script …");
    find("gif").onclick = () => this.ask("gif", "Drawing the GIF; this takes a while …");
    find("page").onclick = () => this.ask("page", "Planning all rewards for the page; this takes a while …");
    find("link").onclick = () => this.copy(location.href, "The link is copied: it holds the settings and the reward, but no key.");
    find("picture").onclick = () => this.picture();
    find("save").onsubmit = (event) => {
      event.preventDefault();
      this.what = find("save-what").value;
      if (!this.say("save", { what: this.what, name: find("save-name").value })) return;
      find("save-button").disabled = true;
      this.answer("Saving …", "");
    };
  }

  // What came of Save stands beside its button; the new file is marked in the list.
  saved(name) {
    find("save-name").value = "";
    find("save-button").disabled = false;
    this.newest = name;
    this.answer(`Saved as ${name}.`, "done");
    return this.what;
  }

  notSaved(reason) {
    find("save-button").disabled = false;
    this.answer(`Not saved: ${reason}`, "alarm");
  }

  answer(words, mark) {
    find("saved").textContent = words;
    find("saved").className = mark;
  }

  ask(kind, words) {
    if (this.say(kind)) this.tell(words);
  }

  tell(words) {
    find("kept").textContent = words;
  }

  async copy(text, words) {
    try {
      await navigator.clipboard.writeText(text);
      this.tell(words);
    } catch {
      find("text-area").value = text;
      find("text").showModal();
      find("text-area").select();
      this.tell("The browser did not allow copying: copy it yourself.");
    }
  }

  // What came of opening a file stands above the list; the file is marked in it.
  opened(name, words) {
    this.current = name;
    this.list(this.entries);
    find("opened").textContent = words;
    find("opened").className = "done";
  }

  // Another system is shown.
  closed() {
    this.current = null;
    this.list(this.entries);
    find("opened").textContent = "";
  }

  notOpened(reason) {
    find("opened").textContent = `Not opened: ${reason}`;
    find("opened").className = "alarm";
  }

  list(entries) {
    this.entries = entries;
    const rows = entries.map((entry) => {
      const when = new Date(entry.time * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
      const name = entry.name === "." ? "the fit of this folder" : entry.name;
      const button = element("button", { type: "button" }, element("span", {}, name),
        element("span", { class: "facts" }, `${entry.kind}, ${bytes(entry.bytes)}, ${when}`));
      button.onclick = () => {
        if (!this.say("open", { name: entry.name })) return;
        find("opened").textContent = `Opening ${name} …`;
        find("opened").className = "";
      };
      if (entry.name === this.current) button.setAttribute("aria-current", "true");
      return element("li", entry.name === this.newest ? { class: "new" } : {}, button);
    });
    const nothing = element("li", {}, "Nothing yet. Learn a reward and keep it, or save one of the swarms.");
    find("files").replaceChildren(...(rows.length ? rows : [nothing]));
  }

  keepFit() {
    find("save-what").value = "fit";
    find("save-name").focus();
    this.answer("Give it a name and save it.", "");
  }

  picture() {
    const [left, right] = this.canvases;
    const gap = Math.round(left.width / 40);
    const title = Math.max(20, Math.round(left.width / 20));
    const whole = element("canvas");
    [whole.width, whole.height] = [2 * left.width + 3 * gap, left.height + title + 2 * gap];
    const style = getComputedStyle(document.documentElement);
    const pen = whole.getContext("2d");
    pen.fillStyle = style.getPropertyValue("--paper");
    pen.fillRect(0, 0, whole.width, whole.height);
    pen.fillStyle = style.getPropertyValue("--ink");
    pen.font = `${Math.round(0.7 * title)}px system-ui, sans-serif`;
    this.canvases.forEach((canvas, side) => {
      const x = gap + side * (left.width + gap);
      pen.fillText(this.label(side), x, gap + 0.7 * title);
      pen.drawImage(canvas, x, gap + title);
      pen.strokeStyle = style.getPropertyValue("--quiet");
      pen.strokeRect(x, gap + title, canvas.width, canvas.height);
    });
    whole.toBlob((blob) => {
      download(blob, "swarm.png");
      this.tell("The picture is in your downloads.");
    });
  }

  // A file: its first byte says so, then its name with its length, then its content.
  file(buffer) {
    const head = new Uint8Array(buffer);
    const name = new TextDecoder().decode(head.slice(2, 2 + head[1]));
    download(new Blob([buffer.slice(2 + head[1])], { type: MEDIA[name.split(".").at(-1)] }), name);
    this.tell(`${name} is in your downloads.`);
  }
}
