// How swarms are drawn, in recorded players and in the live studio.
const Drawing = (() => {
  // The length of an arrow in pixels: smaller in larger swarms.
  const arrowLength = (size, count) => size * Math.min(0.04, Math.max(0.008, 0.5 / Math.sqrt(count)));

  // Agents as arrows (headings in 256ths of the circle) or, without headings, as dots. Places are
  // shares of the window, from its low corner; each heading has one of the colours.
  const agents = (pen, size, xs, ys, headings, colours) => {
    const count = xs.length;
    const length = arrowLength(size, count);
    const buckets = colours.map(() => []);
    for (let agent = 0; agent < count; agent++) {
      const heading = headings ? headings[agent] & 255 : 0;
      buckets[Math.floor(heading * buckets.length / 256)].push(agent);
    }
    buckets.forEach((bucket, number) => {
      pen.fillStyle = colours[number];
      pen.beginPath();
      for (const agent of bucket) {
        const [left, top] = [xs[agent] * size, (1 - ys[agent]) * size];
        if (!headings) {
          pen.moveTo(left + 0.3 * length, top);
          pen.arc(left, top, 0.3 * length, 0, 2 * Math.PI);
          continue;
        }
        const angle = headings[agent] * Math.PI / 128;
        const u = length * Math.cos(angle);
        const v = -length * Math.sin(angle);
        pen.moveTo(left + 0.6 * u, top + 0.6 * v);
        pen.lineTo(left - 0.4 * u - 0.32 * v, top - 0.4 * v + 0.32 * u);
        pen.lineTo(left - 0.2 * u, top - 0.2 * v);
        pen.lineTo(left - 0.4 * u + 0.32 * v, top - 0.4 * v - 0.32 * u);
        pen.closePath();
      }
      pen.fill();
    });
  };

  // An outsider of a recording: a red dot with a white rim; none where it is absent.
  const mark = (pen, size, place) => {
    if (!place) return;
    pen.beginPath();
    pen.arc(place[0] * size, (1 - place[1]) * size, Math.max(4, size / 80), 0, 2 * Math.PI);
    pen.fillStyle = "#D55E00";
    pen.fill();
    pen.lineWidth = 2;
    pen.strokeStyle = "white";
    pen.stroke();
  };

  const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

  // Many agents as pixels: two by two of them, four by four where pixels are small.
  const points = () => {
    let image = null;
    let pixels = null;
    return (pen, size, xs, ys, headings, colours) => {
      if (!image || image.width !== size) {
        image = pen.createImageData(size, size);
        pixels = new Uint32Array(image.data.buffer);
      }
      const packed = colours.map((text) => {
        const [red, green, blue] = rgb(text);
        return (255 << 24 | blue << 16 | green << 8 | red) >>> 0; // little-endian, as all browsers are
      });
      const side = Math.max(1, Math.round(Math.min(size / 250, 1.2 * size / Math.sqrt(xs.length))));
      pixels.fill(0);
      for (let agent = 0; agent < xs.length; agent++) {
        const left = Math.min(size - side, Math.floor(xs[agent] * size));
        const top = Math.min(size - side, Math.floor((1 - ys[agent]) * size));
        const heading = headings ? headings[agent] & 255 : 0;
        const colour = packed[Math.floor(heading * packed.length / 256)];
        for (let row = top * size + left; row < (top + side) * size; row += size) {
          for (let place = row; place < row + side; place++) pixels[place] = colour;
        }
      }
      pen.putImageData(image, 0, 0);
    };
  };

  // A grid of cells; the colour of cell i is the colour number of(i).
  const cells = (rows, columns, colours) => {
    const small = document.createElement("canvas");
    [small.width, small.height] = [columns, rows];
    const image = small.getContext("2d").createImageData(columns, rows);
    const shades = colours.map(rgb);
    return (canvas, of) => {
      for (let site = 0; site < rows * columns; site++) {
        const [red, green, blue] = shades[of(site)];
        image.data[4 * site] = red;
        image.data[4 * site + 1] = green;
        image.data[4 * site + 2] = blue;
        image.data[4 * site + 3] = 255;
      }
      small.getContext("2d").putImageData(image, 0, 0);
      const pen = canvas.getContext("2d");
      pen.imageSmoothingEnabled = false;
      pen.drawImage(small, 0, 0, canvas.width, canvas.height);
    };
  };

  // Bit number `at` of packed cells.
  const bit = (bytes, at) => (bytes[at >> 3] >> (7 - (at & 7))) & 1;

  // Give a canvas as many pixels as it has on the screen.
  const fit = (canvas) => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map(
      (size) => Math.max(1, Math.round(size * devicePixelRatio)));
    if (canvas.width !== width || canvas.height !== height) {
      [canvas.width, canvas.height] = [width, height];
    }
  };

  return { agents, mark, points, cells, bit, fit };
})();
