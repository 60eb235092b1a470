// Small helpers: elements and numbers in words.
export const find = (id) => document.getElementById(id);

export const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

export const drawn = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

// A number of about three digits.
export const short = (value) => {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e9) return value.toExponential(2);
  return String(Number(value.toPrecision(size >= 1000 ? Math.ceil(Math.log10(size + 1)) : 3)));
};

// The same for the end of an axis, where there is little room.
export const brief = (value) => {
  const size = Math.abs(value);
  if (size >= 1e6) return `${short(value / 1e6)}M`;
  return size >= 1e4 ? `${short(value / 1e3)}k` : short(value);
};

export const bytes = (count) => (count < 1e6 ? `${Math.max(1, Math.round(count / 1e3))} kB` : `${(count / 1e6).toFixed(1)} MB`);
