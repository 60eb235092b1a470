// The player of recorded swarms: unpacks the data of report/player.py and draws it.
for (const root of document.querySelectorAll("section.player")) {
  const data = JSON.parse(root.querySelector("script.data").textContent);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const slider = root.querySelector(".slider");
  const playButton = root.querySelector(".play");
  const clock = root.querySelector(".time");
  const speed = root.querySelector(".speed select");
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  // Both kinds of swarms are drawn by a function of (canvas, time).
  const agents = (swarm) => {
    const packed = bytes(swarm.positions);
    const headings = swarm.headings === null ? null : bytes(swarm.headings);
    const count = data.agents;
    const place = (time, agent, axis) => {
      const at = 4 * (time * count + agent) + 2 * axis;
      return (packed[at] | (packed[at + 1] << 8)) / 65536;
    };
    // The way of an agent in one step; across the edge of a periodic box it is the short one.
    const way = (time, agent, axis) => {
      const step = place(time + 1, agent, axis) - place(time, agent, axis);
      return data.periodic ? step - Math.round(step) : step;
    };
    const xs = new Float64Array(count);
    const ys = new Float64Array(count);
    const angles = headings ? new Float64Array(count) : null;
    return (canvas, time) => {
      const size = canvas.width;
      const pen = canvas.getContext("2d");
      const last = Math.floor(time);
      const share = time - last;
      pen.clearRect(0, 0, size, size);
      pen.lineWidth = Math.max(1, size / 600);
      pen.strokeStyle = "rgba(128, 128, 128, 0.28)";
      pen.beginPath();
      for (let agent = 0; agent < count; agent++) {
        let x = place(last, agent, 0);
        let y = place(last, agent, 1);
        let heading = headings ? headings[last * count + agent] : 0;
        if (share > 0) {
          x += share * way(last, agent, 0);
          y += share * way(last, agent, 1);
          const turn = headings ? headings[(last + 1) * count + agent] - heading : 0;
          heading += share * (((turn + 384) & 255) - 128);
        }
        if (data.periodic) {
          x -= Math.floor(x);
          y -= Math.floor(y);
        }
        [xs[agent], ys[agent]] = [x, y];
        if (angles) angles[agent] = heading;
        // The trail, from now back in time.
        const from = time - data.trail;
        pen.moveTo(x * size, (1 - y) * size);
        for (let step = share > 0 ? last : last - 1; step >= 0 && step > from - 1; step--) {
          const part = Math.min(step + 1, time) - Math.max(step, from);
          x -= part * way(step, agent, 0);
          y -= part * way(step, agent, 1);
          pen.lineTo(x * size, (1 - y) * size);
        }
      }
      pen.stroke();
      Drawing.agents(pen, size, xs, ys, angles, data.colours);
      for (const mark of swarm.marks ? swarm.marks[last] : []) Drawing.mark(pen, size, mark);
    };
  };

  // Agents in space, seen from where the view says; all swarms of the player turn together.
  const view = { yaw: 35, pitch: 25 };
  const space = (swarm) => {
    const packed = new Uint16Array(bytes(swarm.positions).buffer);
    const angles = bytes(swarm.headings);
    const count = data.agents;
    const turned = (x, y, z) => {
      const [yaw, pitch] = [view.yaw * Math.PI / 180, view.pitch * Math.PI / 180];
      const away = Math.sin(yaw) * x + Math.cos(yaw) * y;
      return [Math.cos(yaw) * x - Math.sin(yaw) * y, Math.cos(pitch) * z + Math.sin(pitch) * away];
    };
    // A turned cube is wider than its side.
    const onScreen = (x, y, z) => turned(x - 0.5, y - 0.5, z - 0.5).map((part) => 0.5 + 0.6 * part);
    const there = (time, agent) => packed[3 * (time * count + agent)] !== 65535;
    const place = (time, agent) => [0, 1, 2].map((axis) => packed[3 * (time * count + agent) + axis] / 65536);
    const between = (time, agent) => {
      const last = Math.floor(time);
      const share = time - last;
      const here = place(last, agent);
      if (!share || !there(last + 1, agent)) return here;
      return place(last + 1, agent).map((to, axis) => {
        const step = to - here[axis];
        const short = data.periodic ? step - Math.round(step) : step;
        return here[axis] + share * short;
      });
    };
    const corners = [...Array(8).keys()].map((k) => [k & 1, (k >> 1) & 1, k >> 2]);
    return (canvas, time) => {
      const size = canvas.width;
      const pen = canvas.getContext("2d");
      const last = Math.floor(time);
      pen.clearRect(0, 0, size, size);
      pen.lineWidth = Math.max(1, size / 600);
      const line = (from, to) => {
        pen.moveTo(from[0] * size, (1 - from[1]) * size);
        pen.lineTo(to[0] * size, (1 - to[1]) * size);
      };
      pen.strokeStyle = "rgba(128, 128, 128, 0.45)";
      pen.beginPath();
      for (const one of corners) {
        for (let axis = 0; axis < 3; axis++) {
          if (!one[axis]) line(onScreen(...one), onScreen(...one.map((part, k) => (k === axis ? 1 : part))));
        }
      }
      pen.stroke();
      pen.fillStyle = "#767676";
      pen.font = `${Math.round(size / 26)}px sans-serif`;
      ["x", "y", "z"].forEach((name, axis) => {
        const [x, y] = onScreen(...[0, 1, 2].map((k) => (k === axis ? 1.06 : 0)));
        pen.fillText(name, x * size - size / 90, (1 - y) * size + size / 90);
      });
      const [xs, ys, headings] = [[], [], []];
      pen.strokeStyle = "rgba(128, 128, 128, 0.28)";
      pen.beginPath();
      for (let agent = 0; agent < count; agent++) {
        if (!there(last, agent)) continue;
        const here = onScreen(...between(time, agent));
        const at = 2 * (last * count + agent);
        const [azimuth, climb] = [angles[at], (angles[at + 1] << 24) >> 24].map((part) => part * Math.PI / 128);
        const [u, v] = turned(Math.cos(climb) * Math.cos(azimuth), Math.cos(climb) * Math.sin(azimuth), Math.sin(climb));
        xs.push(here[0]);
        ys.push(here[1]);
        headings.push(Math.atan2(v, u) * 128 / Math.PI);
        let from = here;
        for (let back = last; back > last - data.trail && back >= 0 && there(back, agent); back--) {
          const to = onScreen(...place(back, agent));
          if (Math.hypot(to[0] - from[0], to[1] - from[1]) > 0.3) break; // across a periodic edge
          line(from, to);
          from = to;
        }
      }
      pen.stroke();
      Drawing.agents(pen, size, xs, ys, headings, data.colours);
    };
  };

  const grid = (swarm) => {
    const cells = bytes(swarm.cells);
    const colour = data.colours.length === 2 ? (at) => Drawing.bit(cells, at) : (at) => cells[at];
    const draw = Drawing.cells(data.rows, data.columns, data.colours);
    return (canvas, time) => {
      const first = Math.floor(time) * data.rows * data.columns;
      draw(canvas, (site) => colour(first + site));
    };
  };

  const all = [...root.querySelectorAll(".swarm")].map((element, number) => ({
    element,
    canvas: element.querySelector("canvas"),
    reading: element.querySelector(".reading output"),
    cursor: element.querySelector(".cursor"),
    curve: element.querySelector(".curve svg"),
    draw: { grid, space, agents }[data.kind](data.swarms[number]),
    ...data.swarms[number],
  }));

  let shown = all;
  let time = data.start; // between two steps while it plays
  let playing = false;
  let before = 0; // when the last frame was drawn

  const draw = () => {
    const step = Math.floor(time);
    for (const one of shown) {
      Drawing.fit(one.canvas);
      one.draw(one.canvas, still.matches ? step : time);
      if (!one.curve) continue; // nothing is measured
      one.reading.textContent = one.readings[step];
      for (const end of ["x1", "x2"]) one.cursor.setAttribute(end, time);
    }
    clock.textContent = `t = ${step}`;
    slider.value = step;
    const readings = shown.filter((one) => one.curve).map((one) => `${one.label} ${one.readings[step]}`);
    slider.setAttribute("aria-valuetext", [`time step ${step} of ${data.steps}`, ...readings].join("; "));
  };
  const frame = (now) => {
    if (!playing) return;
    time += Math.min(now - before, 250) / 1000 * Number(speed.value);
    before = now;
    if (time >= data.steps) {
      time = data.steps;
      pause();
    }
    draw();
    requestAnimationFrame(frame);
  };
  const tell = () => {
    playButton.querySelector(".word").textContent = playing ? "Pause" : "Play";
    root.dataset.playing = playing;
  };
  const play = () => {
    if (time >= data.steps) time = 0;
    playing = data.steps > 0;
    tell();
    requestAnimationFrame((now) => { before = now; frame(now); });
  };
  const pause = () => {
    playing = false;
    time = Math.floor(time);
    tell();
    draw();
  };
  const toggle = () => (playing ? pause : play)();
  const seek = (to) => {
    time = Math.max(0, Math.min(data.steps, to));
    draw();
  };

  playButton.addEventListener("click", toggle);
  root.querySelector(".first").addEventListener("click", () => seek(0));
  slider.addEventListener("input", () => seek(Number(slider.value)));
  let dragged = false; // a picture was turned, not clicked
  const views = root.querySelector(".view select");
  if (views) {
    root.dataset.space = "";
    const choose = () => {
      if (views.value) [view.yaw, view.pitch] = views.value.split(",").map(Number);
      draw();
    };
    views.addEventListener("change", choose);
    const turn = (yaw, pitch) => {
      view.yaw += yaw;
      view.pitch = Math.max(-90, Math.min(90, view.pitch + pitch));
      views.value = "";
      draw();
    };
    for (const one of all) {
      one.canvas.addEventListener("pointerdown", (event) => {
        dragged = false;
        one.canvas.setPointerCapture(event.pointerId);
      });
      one.canvas.addEventListener("pointermove", (event) => {
        if (!event.buttons || !(event.movementX || event.movementY)) return;
        dragged = true;
        turn(-event.movementX / 2, event.movementY / 2);
      });
    }
  }
  for (const one of all) {
    one.canvas.addEventListener("click", () => {
      if (!dragged) toggle();
      dragged = false;
    });
    one.curve?.addEventListener("pointerdown", (event) => {
      const box = one.curve.getBoundingClientRect();
      seek(Math.round((event.clientX - box.left) / box.width * data.steps));
    });
  }
  // Controls keep the keys that they know; all others are the player's.
  (root.hasAttribute("data-alone") ? document : root).addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.altKey || event.ctrlKey || event.metaKey || target === speed || target === views) return;
    const to = {
      ArrowLeft: Math.ceil(time) - 1, ArrowRight: Math.floor(time) + 1, Home: 0, End: data.steps,
    }[event.key];
    if (event.key === " " && target.tagName !== "BUTTON") toggle();
    else if (to !== undefined && target !== slider) seek(to);
    else return;
    event.preventDefault();
  });
  // A page may hide swarms; it says so by this event.
  root.addEventListener("rearranged", () => {
    shown = all.filter((one) => !one.element.hidden);
    draw();
  });
  new ResizeObserver(draw).observe(root.querySelector(".swarms"));
  root.dataset.ready = "";
  draw();
}
