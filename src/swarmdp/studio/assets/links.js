// The address bar: what follows '#' is never sent to a server. It carries settings and weights; the
// token of the link is taken out of it at once.
const KEY = "swarmdp-studio-token";

const fragment = () => new URLSearchParams(location.hash.slice(1));

export const token = () => {
  const given = fragment();
  if (given.has("token")) {
    keepToken(given.get("token"));
    given.delete("token");
    history.replaceState(null, "", given.size ? `#${given}` : location.pathname);
  }
  return localStorage.getItem(KEY);
};

export const keepToken = (text) => localStorage.setItem(KEY, text);

export const tokenIn = (text) => {
  const match = /token=([A-Za-z0-9_-]+)/.exec(text) ?? /^\s*([A-Za-z0-9_-]{20,})\s*$/.exec(text);
  return match ? match[1] : null;
};

// What the fragment asks for; numbers that are none are left out.
export const linkSettings = () => {
  const given = fragment();
  const settings = {};
  for (const [name, text] of given) {
    if (name.startsWith("s.") && Number.isFinite(Number(text))) settings[name.slice(2)] = Number(text);
  }
  const weights = given.get("weights")?.split(",").map(Number);
  const seed = Number(given.get("seed") ?? 1);
  return {
    system: given.get("system"),
    seed: Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32 ? seed : 1,
    settings,
    weights: weights?.every(Number.isFinite) ? weights : null,
  };
};

export const remember = ({ system, seed, settings, weights }) => {
  const made = new URLSearchParams({ system, seed });
  for (const [name, value] of Object.entries(settings)) made.set(`s.${name}`, value);
  if (weights) made.set("weights", weights.map((weight) => Number(weight.toPrecision(4))).join(","));
  history.replaceState(null, "", `#${made}`);
};
