"use strict";
// The page: what is shown, what is chosen, and the controls that change it.

(function () {
  const data = JSON.parse(document.getElementById("record").textContent);
  const probable = data.word === "probability";
  const get = (id) => document.getElementById(id);
  const state = { shown: [], kind: null, key: null, pinned: false };

  const describe = ([i, j, strength]) =>
    `${data.names[i]} to ${data.names[j]}, ${data.word} ${figures(strength)}`;
  const handlers = { describe, point, choose };
  const wide = data.x === null; // too many variables for one drawing
  let network = wide ? null : new Network(get("network"), data, handlers);

  function point(kind, key, byKeyboard) {
    if (!state.pinned || byKeyboard) select(kind, key, state.pinned && byKeyboard);
  }

  // Of very many variables one is drawn with its neighbours.
  function drawAround(centre) {
    state.centre = centre;
    const ends = (own, other) => state.shown.filter((edge) => edge[own] === centre).map((edge) => edge[other]);
    const causes = ends(1, 0);
    const present = placeAround(data, centre, causes, ends(0, 1).filter((k) => !causes.includes(k)));
    const inside = new Set(present);
    const edges = state.shown.filter(([i, j]) => inside.has(i) && inside.has(j));
    for (const edge of edges) edge[4] = bowAround(data, edge);
    network = new Network(get("network"), data, handlers, present);
    network.show(edges);
    fit(true);
  }

  function choose(kind, key, elsewhere) {
    if (wide && kind === "node" && key !== state.centre) drawAround(key);
    if (wide && kind === "edge" && elsewhere) drawAround(key[1]);
    select(kind, key, true);
    if (elsewhere) reveal(kind === "edge" ? [key[0], key[1]] : [key]);
    const panel = get("details").getBoundingClientRect();
    if (panel.top > window.innerHeight - 120 || panel.bottom < 160) get("details").scrollIntoView({ block: "nearest" });
  }

  function select(kind, key, pinned) {
    Object.assign(state, { kind, key, pinned });
    network.highlight(kind, key);
    if (kind === "edge") edgeDetails(key);
    else if (kind === "node") nodeDetails(key);
    else hint();
  }

  // Details ----------------------------------------------------------------------------------

  function line(parent, tag, text, name) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.textContent = text;
    parent.append(made);
    return made;
  }

  function panel(title) {
    get("details-title").textContent = title;
    const body = get("details-body");
    body.replaceChildren();
    return body;
  }

  function hint() {
    const body = panel("Details");
    line(body, "p", "Point at an edge or a variable, or reach it with the Tab key, to see what was learned about it. Click or press Enter to keep it; Escape lets go.");
    get("mechanism").hidden = true;
  }

  function edgeDetails([i, j, strength, , , learned, back]) {
    const [a, b] = [data.names[i], data.names[j]];
    const body = panel(`${a} → ${b}`);
    const value = line(body, "p", figures(strength), "large");
    line(value, "small", ` ${data.word} of this edge`);
    if (probable) shares(body, [[`${a} → ${b}`, strength, "#0072B2"], [`${b} → ${a}`, back, "#E69F00"],
      ["no edge between them", Math.max(1 - strength - back, 0), "#d5dae2"]]);
    else line(body, "p", `The reverse direction scores ${figures(back)}.`);
    if (data.ancestors) line(body, "p", `Acting directly or through others: probability ${figures(data.ancestors[i][j])}.`);
    const curve = data.curves[`${i},${j}`];
    line(body, "p", curve
      ? "Curve: mean prediction with everything else as observed. Dots: rows of the data."
      : learned ? "No curve was recorded. Dots: rows of the data."
        : "Not in the learned graph, so there is no curve. Dots: rows of the data.");
    get("mechanism").hidden = !data.points.length;
    if (data.points.length) mechanismChart(get("mechanism"), data, i, j);
  }

  function shares(body, parts) {
    const bar = line(body, "div", "", "bar");
    const key = line(body, "ul", "", "key");
    for (const [name, share, ink] of parts) {
      const piece = line(bar, "span", "");
      piece.style.width = `${100 * share}%`;
      piece.style.background = ink;
      const item = line(key, "li", "");
      line(item, "i", "").style.background = ink;
      item.append(`${name}: ${figures(Number(share.toFixed(3)))}`);
    }
  }

  function nodeDetails(k) {
    const body = panel(data.names[k]);
    for (const [title, own, other] of [["Possible causes", 1, 0], ["Possible effects", 0, 1]]) {
      const found = state.shown.filter((edge) => edge[own] === k);
      line(body, "p", found.length ? `${title} (${found.length}):` : `${title}: nothing at this threshold`);
      const links = line(body, "ul", "", "links");
      for (const edge of found) {
        const button = line(line(links, "li", ""), "button", `${data.names[edge[other]]} · ${figures(edge[2])}`);
        button.type = "button";
        button.addEventListener("click", () => choose("edge", edge, true));
      }
    }
    get("mechanism").hidden = true;
  }

  // Threshold --------------------------------------------------------------------------------

  function percent(share) {
    return `${Math.round(100 * share)} %`;
  }

  function update() {
    const level = data.levels[Number(get("threshold").value)];
    state.shown = data.edges.filter((edge) => certainty(edge) >= level - 1e-9 * Math.max(1, Math.abs(level)));
    const sum = state.shown.reduce((total, edge) => total + edge[2], 0);
    const text = probable ? level.toFixed(2) : figures(level);
    get("threshold-value").textContent = text;
    get("threshold").setAttribute("aria-valuetext", text);
    get("edge-count").textContent = state.shown.length;
    get("precision").textContent = !probable ? "–" : state.shown.length ? percent(sum / state.shown.length) : "–";
    get("recall").textContent = probable && data.total ? percent(sum / data.total) : "–";
    if (wide) drawAround(state.centre ?? busiest());
    else network.show(state.shown);
    listEdges();
    const still = state.kind === "node" || state.shown.includes(state.key);
    if (still) select(state.kind, state.key, state.pinned);
    else select(null, null, false);
  }

  const linked = ([, , strength, , , , back]) => Math.min(1, strength + back);

  function busiest() {
    const count = data.names.map(() => 0);
    state.shown.forEach(([i, j]) => { count[i] += 1; count[j] += 1; });
    return count.indexOf(Math.max(...count));
  }

  // Links of the learned graph are shown by how sure they are at all: open directions hide none.
  const certainty = (edge) => (probable && edge[5] ? linked(edge) : edge[2]);

  const hundredths = (share) => (share >= 0.995 ? "> 0.99" : share.toFixed(2));

  function linkText(edge) {
    return hundredths(linked(edge)) + (directionOpen(data, edge) ? ", direction open" : "");
  }

  function listEdges() {
    const body = get("edges").tBodies[0];
    const rows = state.shown.slice(0, 200).map((edge) => {
      const row = document.createElement("tr");
      const cause = line(row, "td", "");
      const button = line(cause, "button", data.names[edge[0]]);
      button.type = "button";
      button.setAttribute("aria-label", describe(edge));
      button.addEventListener("click", () => choose("edge", edge, true));
      line(row, "td", data.names[edge[1]]);
      const cell = line(row, "td", probable ? hundredths(edge[2]) : figures(edge[2]));
      const meter = line(cell, "span", "", "meter");
      meter.style.width = `${Math.max(2, 55 * edge[3])}%`;
      meter.style.background = colour(edge[3]);
      if (probable) line(row, "td", linkText(edge));
      return row;
    });
    body.replaceChildren(...rows);
    const rest = state.shown.length - rows.length;
    get("more").hidden = rest <= 0;
    get("more").textContent = `and ${rest} more; raise the threshold to see fewer.`;
  }

  // Size -------------------------------------------------------------------------------------

  const LEGIBLE = 8.5;
  let [zoom, fitted] = [1, window.innerWidth];

  function resize(next) {
    const [width, height] = data.size;
    zoom = Math.min(Math.max(next, 0.02), 3);
    get("small").hidden = zoom * data.font > 0.75 * LEGIBLE;
    network.svg.setAttribute("width", Math.round(width * zoom));
    network.svg.setAttribute("height", Math.round(height * zoom));
  }

  // Everything in view; at first only its whole width where else it could not be read.
  function fit(readable) {
    const box = get("scroller");
    const [width, height] = data.size;
    const inside = Math.min((box.clientWidth - 2) / width, (0.78 * window.innerHeight - 4) / height, 1.25);
    const across = Math.min((box.clientWidth - 2) / width, 1.25);
    resize(readable ? Math.max(inside, Math.min(across, LEGIBLE / data.font)) : inside);
    box.scrollLeft = (width * zoom - box.clientWidth) / 2;
  }

  // Scroll the drawing so that the middle of some nodes is in its middle.
  function reveal(nodes) {
    const box = get("scroller");
    const middle = (values) => (zoom * nodes.reduce((sum, k) => sum + values[k], 0)) / nodes.length;
    box.scrollTo({ left: middle(data.x) - box.clientWidth / 2, top: middle(data.y) - box.clientHeight / 2 });
  }

  // Wiring -----------------------------------------------------------------------------------

  get("threshold").max = data.levels.length - 1;
  get("threshold").value = data.start;
  get("threshold").addEventListener("input", update);
  for (const [id, step] of [["zoom-in", 1.25], ["zoom-out", 0.8]]) {
    get(id).addEventListener("click", () => {
      fitted = null;
      resize(zoom * step);
    });
  }
  get("zoom-fit").addEventListener("click", () => {
    fitted = window.innerWidth;
    fit(false);
  });
  window.addEventListener("resize", () => {
    if (fitted === null || fitted === window.innerWidth) return; // the reader's own zoom stays
    fitted = window.innerWidth;
    fit(true);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") select(null, null, false);
  });
  data.names.forEach((name) => get("names").append(new Option(name, name)));
  get("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    let k = data.names.findIndex((name) => name.toLowerCase() === wanted);
    if (k < 0 && wanted.length > 2) k = data.names.findIndex((name) => name.toLowerCase().startsWith(wanted));
    if (k < 0) return;
    choose("node", k, true);
  });
  get("network").addEventListener("click", (event) => {
    if (!event.target.closest(".node, .edge")) select(null, null, false);
  });
  get("scale").style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map(colour).join(",")})`;
  document.querySelectorAll(".probable").forEach((fact) => { fact.hidden = !probable; });
  get("capped").hidden = !data.note;
  get("capped").textContent = data.note;
  if (!wide) fit(true);
  update();
  if (data.strength) heatMap("heat", data, { colours: data.shade || data.strength, values: data.strength, word: data.word, above: !probable });
  if (data.ancestors) heatMap("ancestor-heat", data, { colours: data.ancestors, values: data.ancestors, word: "probability" });
  data.samples.forEach((edges, k) => {
    const figure = document.createElement("figure");
    drawSample(data, edges, figure);
    line(figure, "figcaption", `sample ${k + 1}: ${edges.length} edges`);
    get("sample-list").append(figure);
  });
  if (data.quality) qualityCharts(data.quality);
  if (data.history) trainingCurves(data);
  for (const moment of ["beforeprint", "afterprint"]) {
    window.addEventListener(moment, () => document.querySelectorAll(".js-plotly-plot").forEach((plot) => Plotly.Plots.resize(plot)));
  }
  document.body.dataset.ready = "yes";
})();
