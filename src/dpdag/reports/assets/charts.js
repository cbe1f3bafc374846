"use strict";
// Charts by plotly: heat maps, training curves, mechanisms.

const FONT = { family: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif", size: 12, color: "#1b2330" };
const CONFIG = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
const HEAT = [[0, "#fafbfc"], [0.1, "#e6f1ec"], [0.3, "#a5d8c0"], [0.5, "#35b779"], [0.7, "#26828e"], [0.85, "#3e4a89"], [1, "#440154"]];

// Plotly reads a little markup and formulas in text; names are to be shown as they are.
function plain(text) {
  return String(text).replace(/[&<>$]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function figures(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

function heatMap(id, data, { colours, values, word, above }) {
  const holder = document.getElementById(id);
  const order = data.order;
  const few = order.length <= 60;
  const narrow = holder.clientWidth < 500;
  const pick = (matrix) => order.map((i) => order.map((j) => (i === j ? null : matrix[i][j])));
  const names = order.map((k) => plain(data.names[k]));
  const labels = order.map((k) => plain(data.labels[k]));
  const spots = order.map((_, k) => k);
  const font = narrow ? 9 : order.length > 30 ? 9 : 12;
  const slanted = order.length > 8 || narrow;
  const margin = heatMargin(holder, order.map((k) => data.labels[k]), { few, narrow, slanted, font });
  const shown = pick(values);
  const axis = {
    tickmode: "array", tickvals: few ? spots : [], ticktext: few ? labels : [], fixedrange: false,
    tickfont: { size: font }, showgrid: false, zeroline: false,
    constrain: "domain",
  };
  Plotly.newPlot(holder, [{
    type: "heatmap", z: pick(colours), zmin: 0, zmax: 1, colorscale: HEAT, hoverongaps: false,
    xgap: order.length > 60 ? 0 : 1, ygap: order.length > 60 ? 0 : 1,
    text: shown.map((row, a) => row.map((v, b) => `${names[a]} → ${names[b]}<br>${word}: ${v === null ? "" : figures(v)}`)),
    hoverinfo: "text",
    showscale: !narrow,
    colorbar: above
      ? { title: { text: word, side: "right" }, thickness: 14, outlinewidth: 0, tickvals: [0, 1], ticktext: ["low", "high"] }
      : { title: { text: word, side: "right" }, thickness: 14, outlinewidth: 0 },
  }], {
    font: FONT, margin, dragmode: narrow ? false : "zoom", plot_bgcolor: "#eef1f5", paper_bgcolor: "rgba(0,0,0,0)",
    xaxis: { ...axis, side: "top", tickangle: slanted ? -55 : 0, title: { text: narrow ? "" : "effect", standoff: 6 } },
    yaxis: { ...axis, autorange: "reversed", scaleanchor: "x", title: { text: narrow ? "" : "cause", standoff: 6 } },
  }, CONFIG);
}

// Room for the labels. On a phone the map is as large as its labels need, and pans in its box.
function heatMargin(holder, labels, { few, narrow, slanted, font }) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${font}px ${FONT.family}`;
  const wide = labels.map((label) => pen.measureText(label).width);
  const long = Math.max(...wide);
  const title = narrow ? 0 : 30;
  const margin = { l: few ? 14 + title + long : 34, r: 10, t: few ? 16 + title + (slanted ? 0.82 * long : font) : 44, b: 10 };
  if (!narrow) return margin;
  const n = labels.length;
  const cell = () => Math.max((holder.clientWidth - margin.l - margin.r) / n, few ? font + 1 : 0);
  const own = cell();
  if (few) margin.r += Math.max(0, ...wide.map((w, k) => 0.6 * w - (n - k - 0.5) * own));
  holder.style.minWidth = `${Math.floor(margin.l + margin.r + n * cell())}px`;
  holder.style.height = `${Math.ceil(margin.t + margin.b + n * cell())}px`;
  return margin;
}

function trainingCurves(data) {
  const holder = document.getElementById("history");
  const inks = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];
  for (const { title, lines } of data.history.panels) {
    const figure = document.createElement("figure");
    const panel = document.createElement("div");
    panel.className = "panel";
    const caption = document.createElement("figcaption");
    caption.textContent = title + (lines.length > 1 ? ` (${lines.length} restarts)` : "");
    figure.append(caption, panel);
    holder.append(figure);
    Plotly.newPlot(panel, lines.map(([x, y], k) => ({
      x, y, mode: x.length > 1 ? "lines" : "markers", line: { width: lines.length > 1 ? 1.4 : 2, color: inks[k % inks.length] },
      name: `restart ${k + 1}`, hovertemplate: `${plain(data.history.axis)} %{x}: %{y:.4g}<extra></extra>`,
    })), {
      font: { ...FONT, size: 11 }, showlegend: false, margin: { l: 50, r: 12, t: 8, b: 38 }, paper_bgcolor: "rgba(0,0,0,0)",
      xaxis: { title: { text: data.history.axis, standoff: 4 }, gridcolor: "#e8ecf1", zeroline: false },
      yaxis: { gridcolor: "#e8ecf1", zeroline: false, tickformat: "~g" },
    }, { ...CONFIG, displayModeBar: false });
  }
}

// What the graph explains beside graphs of chance, and the share of every variable.
function qualityCharts({ own, random, shares }) {
  const still = { ...CONFIG, displayModeBar: false };
  const look = { font: { ...FONT, size: 11 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)" };
  const spread = random.map((_, k) => 0.25 * ((k * 7) % 5 - 2) / 2); // dots apart
  const marks = [
    { x: [0], y: [0], text: ["no graph"], textposition: "middle right", marker: { size: 11, color: "#52617a", symbol: "line-ns-open", line: { width: 2 } } },
    { x: [own], y: [0], text: ["this graph"], marker: { size: 14, color: "#0072B2", symbol: "diamond" } },
  ].map((mark) => ({ textposition: "top center", ...mark, mode: "markers+text", hovertemplate: "%{text}: %{x:.2f}<extra></extra>" }));
  const chance = { x: random, y: spread.map((y) => y - 0.8), mode: "markers", marker: { size: 8, color: "#E69F00", opacity: 0.7 }, hovertemplate: "random graph: %{x:.2f}<extra></extra>" };
  const [low, high] = [Math.min(0, own, ...random), Math.max(own, ...random)];
  const space = 0.14 * (high - low || 1);
  Plotly.newPlot("explained", [...marks, chance], { ...look, margin: { l: 12, r: 12, t: 8, b: 30 },
    annotations: random.length ? [{ x: Math.max(...random), y: -0.8, text: `${random.length} random graphs`, showarrow: false, xanchor: Math.max(...random) > (low + high) / 2 ? "right" : "left", xshift: 10, yshift: Math.max(...random) > (low + high) / 2 ? -24 : 0 }] : [],
    xaxis: { range: [low - space, high + space], gridcolor: "#e8ecf1", zerolinecolor: "#aab4c2" },
    yaxis: { range: [-1.6, 0.8], visible: false, fixedrange: true },
  }, still);
  const names = shares.map(([name]) => plain(name));
  document.getElementById("shares").style.height = `${46 + 22 * shares.length}px`;
  Plotly.newPlot("shares", [{
    type: "bar", orientation: "h", x: shares.map(([, share]) => 100 * share), y: names.map((_, k) => k),
    marker: { color: shares.map(([, , left]) => (left ? "#E69F00" : "#0072B2")) },
    hovertext: shares.map(([, share, left], k) => `${names[k]}: ${(100 * share).toFixed(0)} %${left ? ", and still follows other variables" : ""}`), hoverinfo: "text",
  }], { ...look, margin: { l: 130, r: 28, t: 4, b: 30 }, bargap: 0.3,
    xaxis: { range: [0, 100], ticksuffix: " %", gridcolor: "#e8ecf1", fixedrange: true },
    yaxis: { tickmode: "array", tickvals: names.map((_, k) => k), ticktext: names, autorange: "reversed", fixedrange: true },
  }, still);
}

// Data as dots, and the learned curve where there is one.
function mechanismChart(holder, data, i, j) {
  const curve = data.curves[`${i},${j}`];
  const traces = [{
    x: data.points[i], y: data.points[j], mode: "markers", name: "data", hoverinfo: "skip",
    marker: { color: "#7d8797", size: 5, opacity: 0.55 },
  }];
  if (curve) {
    traces.push({ x: curve[0], y: curve[1], mode: "lines", name: "learned", line: { color: "#D55E00", width: 3.5 },
      hovertemplate: "%{x:.3g} → %{y:.3g}<extra></extra>" });
  }
  Plotly.react(holder, traces, {
    font: { ...FONT, size: 11 }, showlegend: false, margin: { l: 52, r: 8, t: 8, b: 42 }, paper_bgcolor: "rgba(0,0,0,0)",
    xaxis: { title: { text: plain(data.labels[i]), standoff: 6 }, gridcolor: "#e8ecf1", zeroline: false, range: spread(data.points[i]) },
    yaxis: { title: { text: plain(data.labels[j]), standoff: 6 }, gridcolor: "#e8ecf1", zeroline: false, range: spread(data.points[j]) },
  }, { ...CONFIG, displayModeBar: false });
}

// The range of most values: a few far ones must not squeeze all others into a corner.
function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor(0.01 * sorted.length)], sorted[Math.ceil(0.99 * sorted.length) - 1]];
  const space = 0.08 * (high - low || 1);
  return [low - space, high + space];
}
