"use strict";
// The graph as SVG: geometry, drawing, and what pointing at a node or an edge looks like.

const SVG = "http://www.w3.org/2000/svg";

// Viridis from its bright end (uncertain) to its dark end (certain): even steps for any eyes.
const SHADES = [[122, 209, 81], [53, 183, 121], [31, 158, 137], [38, 130, 142], [49, 104, 142],
  [62, 74, 137], [72, 40, 120], [68, 1, 84]];

function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (SHADES.length - 1);
  const low = Math.min(Math.floor(at), SHADES.length - 2);
  const mix = SHADES[low].map((v, k) => Math.round(v + (SHADES[low + 1][k] - v) * (at - low)));
  return `rgb(${mix.join(",")})`;
}

function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(made);
  return made;
}

// A quadratic curve between two nodes, cut at the border of the target, with the arrow's head.
function route(data, i, j, [bow, skew], height, size) {
  const [ax, ay, bx, by] = [data.x[i], data.y[i], data.x[j], data.y[j]];
  const cx = (ax + bx) / 2 + skew * (bx - ax) + 2 * bow * (ay - by);
  const cy = (ay + by) / 2 + skew * (by - ay) + 2 * bow * (bx - ax);
  const at = (t) => [
    (1 - t) * (1 - t) * ax + 2 * t * (1 - t) * cx + t * t * bx,
    (1 - t) * (1 - t) * ay + 2 * t * (1 - t) * cy + t * t * by];
  const inside = ([x, y], k, space) =>
    Math.abs(x - data.x[k]) < data.wide[k] / 2 + space && Math.abs(y - data.y[k]) < height / 2 + space;
  let [end, start] = [1, 0];
  while (end > 0.5 && inside(at(end), j, 2)) end -= 0.005;
  while (start < 0.45 && inside(at(start), i, 0)) start += 0.005;
  const tip = at(end);
  const before = at(Math.max(end - 0.03, 0));
  const length = Math.hypot(tip[0] - before[0], tip[1] - before[1]) || 1;
  const [ux, uy] = [(tip[0] - before[0]) / length, (tip[1] - before[1]) / length];
  const base = [tip[0] - ux * size, tip[1] - uy * size];
  // The part of the curve from start to its end, as a quadratic curve of its own.
  const from = at(start);
  const mid = at((start + end) / 2);
  const control = [2 * mid[0] - (from[0] + base[0]) / 2, 2 * mid[1] - (from[1] + base[1]) / 2];
  const side = size * 0.45;
  return {
    path: `M${from} Q${control} ${base}`,
    head: `${tip} ${base[0] - uy * side},${base[1] + ux * side} ${base[0] + uy * side},${base[1] - ux * side}`,
  };
}

function drawNode(data, k, height, parent) {
  const group = element("g", { class: "node", "data-node": k }, parent);
  const [w, x, y] = [data.wide[k], data.x[k], data.y[k]];
  element("rect", { x: x - w / 2, y: y - height / 2, width: w, height, rx: height / 2 }, group);
  element("text", { x, y, "font-size": data.font }, group).textContent = data.labels[k];
  element("title", {}, group).textContent = data.names[k];
  return group;
}

// Whether a link is surer than the way it points.
function directionOpen(data, [, , strength, , , , back]) {
  return data.word === "probability" && strength < 0.9 * Math.min(1, strength + back);
}

function drawEdge(data, edge, height, parent, hollow) {
  const [i, j, , shade, bend, learned] = edge;
  const width = data.names.length > 60 ? 0.8 + 2 * shade : 1.2 + 3.4 * shade;
  const group = element("g", { class: "edge", "data-edge": `${i},${j}` }, parent);
  const { path, head } = route(data, i, j, bend, height, 7 + width * 1.5);
  element("path", { class: "halo", d: path, "stroke-width": width + 9 }, group);
  const line = element("path",
    { class: "line", d: path, fill: "none", stroke: colour(shade), "stroke-width": width }, group);
  if (!learned) line.setAttribute("stroke-dasharray", "6 5");
  element("polygon", { class: "head", points: head, fill: hollow ? "#fff" : colour(shade), stroke: colour(shade), "stroke-width": hollow ? 1.5 : 0 }, group);
  element("path", { class: "hit", d: path }, group);
  return group;
}

class Network {
  constructor(svg, data, handlers, nodes = data.order) {
    svg.replaceChildren();
    this.svg = svg;
    this.data = data;
    this.handlers = handlers;
    this.height = data.font + 16;
    const [width, height] = data.size;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("font-family", "inherit");
    this.edges = element("g", {}, svg);
    this.nodes = element("g", {}, svg);
    nodes.forEach((k) => this.listen(drawNode(data, k, this.height, this.nodes), "node", k));
  }

  listen(group, kind, key) {
    const label = kind === "node" ? `Variable ${this.data.names[key]}` : this.handlers.describe(key);
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", label);
    group.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") this.handlers.point(kind, key);
    });
    group.addEventListener("focus", () => {
      if (group.matches(":focus-visible")) this.handlers.point(kind, key, true);
    });
    group.addEventListener("click", () => this.handlers.choose(kind, key));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.handlers.choose(kind, key);
    });
  }

  // Redraw the edges, the strongest last and so on top.
  show(shown) {
    this.edges.replaceChildren();
    const busy = new Set();
    const focusable = shown.length <= 150;
    this.svg.classList.toggle("dense", shown.length > 300);
    for (const edge of [...shown].reverse()) {
      const group = drawEdge(this.data, edge, this.height, this.edges, directionOpen(this.data, edge));
      this.listen(group, "edge", edge);
      if (!focusable) group.removeAttribute("tabindex");
      busy.add(edge[0]).add(edge[1]);
    }
    for (const node of this.nodes.children) {
      node.classList.toggle("bare", !busy.has(Number(node.dataset.node)));
    }
  }

  // Let one node with its edges, or one edge with its ends, stand out.
  highlight(kind, key) {
    const near = new Set(kind === "edge" ? [key[0], key[1]] : kind === "node" ? [key] : []);
    for (const group of this.edges.children) {
      const [i, j] = group.dataset.edge.split(",").map(Number);
      const chosen = kind === "edge" && i === key[0] && j === key[1];
      const touches = kind === "node" && (i === key || j === key);
      if (touches) near.add(i).add(j);
      group.classList.toggle("chosen", chosen);
      group.classList.toggle("dim", Boolean(kind) && !chosen && !touches);
    }
    for (const group of this.nodes.children) {
      const k = Number(group.dataset.node);
      group.classList.toggle("chosen", kind === "node" && k === key);
      group.classList.toggle("dim", Boolean(kind) && !near.has(k));
    }
  }
}

const ROW = 96; // pixels between two rows of neighbours

// Places of one node with its causes above and its effects below, a few in a row.
function placeAround(data, centre, causes, effects) {
  const FEW = 7;
  const inRows = (nodes) => nodes.reduce((rows, k, at) => (at % FEW ? rows.at(-1).push(k) : rows.push([k]), rows), []);
  const rows = [...inRows(causes), [centre], ...inRows(effects)];
  const all = rows.flat();
  const slot = Math.max(...all.map((k) => data.wide[k])) + 30;
  const longest = Math.max(3, ...rows.map((row) => row.length));
  [data.x, data.y] = [[], []];
  const middle = rows.findIndex((row) => row[0] === centre);
  rows.forEach((row, high) => row.forEach((k, at) => {
    const aside = high !== middle && (high - middle) % 2 === 0 ? 0.5 : 0; // between those of the row before
    data.x[k] = slot * (longest / 2 + at - (row.length - 1) / 2 + aside);
    data.y[k] = data.font + 14 + ROW * high;
  }));
  data.size = [slot * (longest + 0.5), 2 * data.font + 28 + ROW * (rows.length - 1)];
  return all;
}

// Edges along a row, or past one, make way for the nodes between.
function bowAround(data, [i, j]) {
  const rows = Math.round(Math.abs(data.y[i] - data.y[j]) / ROW);
  const side = (data.x[j] >= data.x[i] ? -1 : 1) * Math.sign(data.y[j] - data.y[i]);
  return rows === 0 ? [0.2, 0] : rows === 1 ? [0, 0] : [0.15 * side, 0];
}

// A small picture of one sampled graph, nodes where they are in the large one.
function drawSample(data, edges, holder) {
  const known = new Map(data.edges.map((edge) => [`${edge[0]},${edge[1]}`, edge]));
  const svg = element("svg", { class: "mini", viewBox: `0 0 ${data.size[0]} ${data.size[1]}`, "aria-hidden": "true" }, holder);
  const small = data.names.length <= 20;
  const height = data.font + 16;
  for (const [i, j] of edges.slice(0, 1500)) {
    drawEdge(data, known.get(`${i},${j}`) || [i, j, 0, data.strength[i][j] || 0, [0, 0], 0], height, svg);
  }
  data.names.forEach((_, k) => {
    if (small) drawNode(data, k, height, svg);
    else element("ellipse", { cx: data.x[k], cy: data.y[k], rx: 13, ry: 13, fill: "#dfe5ee", stroke: "#52617a", "stroke-width": 2 }, svg);
  });
}
