// SPDX-License-Identifier: MIT
// Chunk sizes over scheduling steps, and the finishing times of the workers.

// --- plots with two axes ---

// An axis from `low` to `high` over `length` dots.
function makeAxis(low, high, isLogarithmic) {
  const at = isLogarithmic ? Math.log : value => value;
  const a = at(low), b = at(high);
  const place = value => (at(value) - a) / (b - a || 1);
  const ticks = [];
  if (isLogarithmic) {
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
      for (const digit of b - a < 7 ? [1, 2, 5] : [1])
        if (digit * 10 ** power >= low && digit * 10 ** power <= high)
          ticks.push(digit * 10 ** power);
  }
  return {low, high, place, ticks, isLogarithmic};
}

function linearTicks(axis, parts, isWhole) {
  const step = Math.max(isWhole ? 1 : 0, niceStep(axis.high - axis.low || 1, parts));
  axis.ticks = [];
  for (let i = Math.ceil(axis.low / step - 1e-9); i * step <= axis.high * (1 + 1e-12); i++)
    axis.ticks.push(i * step + 0); // and no -0
}

// Draws the frame; returns {context, x(value), y(value), ...} in CSS dots.
function drawFrame(id, xAxis, yAxis, xTitle, yTitle, xText) {
  const holder = byId(id + '-box'), width = isPrinting ? PRINT_WIDTH : holder.clientWidth, height = isPrinting ? 260 : holder.clientHeight;
  const context = prepare(byId(id), width, height), top = 12, bottom = height - 44, right = width - 16;
  if (!yAxis.isLogarithmic)
    linearTicks(yAxis, Math.max(2, (bottom - top) / 45));
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, height);
  const yTexts = tickTexts(yAxis.ticks), left = 42 + Math.max(...yTexts.map(text => context.measureText(text).width), 10);
  linearTicks(xAxis, Math.max(2, (right - left) / 90), true);
  const plot = {context, left, right, top, bottom, width, height, x: value => left + xAxis.place(value) * (right - left), y: value => bottom - yAxis.place(value) * (bottom - top)};
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  yAxis.ticks.forEach((tick, i) => {
    context.fillStyle = palette.idle;
    context.fillRect(left, plot.y(tick) - .5, right - left, 1);
    context.fillStyle = palette.ink;
    context.fillText(yTexts[i], left - 7, plot.y(tick));
  });
  context.textBaseline = 'top';
  context.textAlign = 'center';
  tickTexts(xAxis.ticks).forEach((plain, i) => {
    const text = xText ? xText(xAxis.ticks[i]) : plain;
    const x = plot.x(xAxis.ticks[i]);
    context.fillRect(x - .5, bottom, 1, 5);
    context.fillText(text, Math.min(x, right - context.measureText(text).width / 2 + 14), bottom + 8);
  });
  context.fillRect(left, bottom, right - left, 1);
  context.fillStyle = palette.faint;
  context.fillText(xTitle, (left + right) / 2, bottom + 26);
  context.save();
  context.translate(13, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = 'middle';
  context.fillText(yTitle, 0, 0);
  context.restore();
  return plot;
}

// Draws values as a line with steps, or where there are many as the range of those in a dot.
function drawSeries(plot, length, valueAt, colour, mark) {
  const {context} = plot, columns = plot.right - plot.left;
  context.fillStyle = context.strokeStyle = colour;
  if (length <= columns * 2) {
    if (mark === 'line') {
      context.lineWidth = 2;
      context.beginPath();
      for (let i = 0; i < length; i++)
        if (!Number.isNaN(valueAt(i)) && valueAt(i) > 0)
          context.lineTo(plot.x(i + 1), plot.y(valueAt(i)));
      context.stroke();
      return;
    }
    const radius = length < 150 ? 3 : length < 600 ? 2.2 : 1.5;
    context.beginPath();
    for (let i = 0; i < length; i++) {
      if (Number.isNaN(valueAt(i)) || !(valueAt(i) > 0))
        continue;
      context.moveTo(plot.x(i + 1) + radius, plot.y(valueAt(i)));
      context.arc(plot.x(i + 1), plot.y(valueAt(i)), radius, 0, 7);
    }
    context.fill();
    return;
  }
  let column = -1, least = Infinity, most = -Infinity;
  const put = () => {
    if (most > 0)
      context.fillRect(plot.left + column - .5, plot.y(most) - 1, mark === 'line' ? 1.5 : 1, Math.max(2, plot.y(least) - plot.y(most) + 1));
  };
  for (let i = 0; i < length; i++) {
    const value = valueAt(i), x = Math.floor(plot.x(i + 1) - plot.left);
    if (x !== column) {
      put();
      column = x;
      least = Infinity;
      most = -Infinity;
    }
    if (value > 0) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  put();
}

// --- chunk sizes ---

const sizes = {at: -1, order: null};

// Without scheduling steps in the trace: the chunks as they were given.
function orderOfChunks() {
  if (run.cuts === 0 && !sizes.order)
    sizes.order = Uint32Array.from({length: N}, (_, i) => i).sort((a, b) => given[a] - given[b]);
}

const stepCount = () => run.cuts > 0 ? run.cuts : N;
const sizeOf = i => run.cuts > 0 ? cuts.size[i] : count[sizes.order[i]];
const formulaOf = i => run.cuts > 0 ? cuts.formula[i] : NaN;

function drawSizes() {
  if (!document.body.classList.contains('has-trace') || stepCount() === 0)
    return;
  orderOfChunks();
  let least = Infinity, most = 0;
  for (let i = 0; i < stepCount(); i++)
    for (const value of [sizeOf(i), formulaOf(i)])
      if (value > 0) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
  const isLogarithmic = most > least * 60;
  sizes.extent = [least, most];
  const plot = drawFrame('sizes', makeAxis(1, Math.max(2, stepCount()), false),
    isLogarithmic ? makeAxis(least / 1.25, most * 1.25, true) : makeAxis(0, Math.max(1, most * 1.06), false),
    run.cuts > 0 ? 'scheduling step' : 'chunk, in the order of assignment', 'iterations in the chunk');
  sizes.plot = plot;
  drawSeries(plot, stepCount(), sizeOf, palette.own, 'dot');
  drawSeries(plot, stepCount(), formulaOf, palette.vain, 'line');
  if (sizes.at >= 0 && !isPrinting) {
    plot.context.fillStyle = palette.mark;
    plot.context.fillRect(plot.x(sizes.at + 1) - .5, plot.top, 1, plot.bottom - plot.top);
  }
}

function tellSize() {
  if (sizes.at < 0)
    return;
  const i = sizes.at;
  let text = `Chunk ${group(i + 1)} to be given has ${group(sizeOf(i))} iterations.`;
  if (run.cuts > 0)
    text = `Scheduling step ${group(i + 1)} of ${group(run.cuts)}, at ${timeText(cuts.time[i])}` +
      (cuts.worker[i] >= 0 ? ` for worker ${cuts.worker[i]}` : '') + `: ${group(sizeOf(i))} iterations were cut` +
      (Number.isNaN(formulaOf(i)) ? '.' : `; ${run.technique} by itself said ${group(formulaOf(i))}.`);
  show(byId('sizes-story'), text);
  drawSizes();
}

// --- finishing times ---

const finish = {at: -1};

function drawFinish() {
  if (!document.body.classList.contains('has-finish'))
    return;
  const stayed = workers.filter(worker => worker.finish > 0 && worker.lost < 0), done = (stayed.length > 0 ? stayed : workers).map(worker => worker.finish);
  const end = Math.max(run.elapsed, ...done), least = Math.min(...done), mean = done.reduce((sum, value) => sum + value, 0) / done.length;
  const low = least < .6 * end ? 0 : Math.max(0, least - .35 * (end - least));
  const plot = drawFrame('finish', makeAxis(.5, workers.length + .5, false), makeAxis(low, end + (end - low) * .04, false),
    'worker, by node and rank', 'seconds after the first assignment', place => String(workers[place - 1].rank));
  const {context} = plot, slot = (plot.right - plot.left) / workers.length;
  finish.plot = plot;
  context.fillStyle = palette.idle;
  for (const worker of workers)
    if (worker.finish > 0 && worker.lost < 0)
      context.fillRect(plot.x(worker.index + 1) - slot * .4, plot.y(end), Math.max(.6, slot * .8), plot.y(worker.finish) - plot.y(end));
  const across = (value, dashes) => {
    context.strokeStyle = palette.mark;
    context.lineWidth = 1.2;
    context.setLineDash(dashes);
    context.beginPath();
    context.moveTo(plot.left, plot.y(value));
    context.lineTo(plot.right, plot.y(value));
    context.stroke();
    context.setLineDash([]);
  };
  across(end, []);
  across(mean, [6, 4]);
  const radius = slot > 10 ? 3.5 : slot > 4 ? 2.4 : 1.5;
  for (const worker of workers) {
    if (!(worker.finish > 0))
      continue;
    const x = plot.x(worker.index + 1), y = plot.y(Math.max(low, worker.finish));
    if (worker.lost < 0) {
      context.fillStyle = palette.own;
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fill();
    } else {
      drawCross(context, x, y, 4, palette.vain);
    }
  }
  if (finish.at >= 0 && !isPrinting) {
    context.strokeStyle = palette.mark;
    context.strokeRect(plot.x(finish.at + 1) - 5, plot.y(Math.max(low, workers[finish.at].finish)) - 5, 10, 10);
  }
}

function drawCross(context, x, y, size, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x + size, y - size);
  context.lineTo(x - size, y + size);
  context.stroke();
}

function tellFinish() {
  if (finish.at < 0)
    return;
  const worker = workers[finish.at];
  show(byId('finish-story'), !(worker.finish > 0) ? `${nameOf(worker)} completed no chunk.`
    : `${nameOf(worker)} finished ${worker.finish.toFixed(Math.min(6, decimals))} s after the first assignment` +
      (worker.lost >= 0 ? ', and was lost.' : `, ${durationText((run.elapsed - worker.finish) / run.tick)} before the end of the loop.`));
  drawFinish();
}

// Lets a mouse and the keys choose one of the items of a plot.
function listenToPlot(id, state, length, tellIt) {
  const holder = byId(id + '-box');
  const choose = i => {
    state.at = Math.max(0, Math.min(length() - 1, i));
    requestAnimationFrame(tellIt);
  };
  holder.addEventListener('pointermove', event => {
    if (state.plot)
      choose(Math.floor((placeIn(holder, event)[0] - state.plot.left) / (state.plot.right - state.plot.left) * length()));
  });
  holder.addEventListener('keydown', event => {
    const tenth = Math.max(1, Math.round(length() / 10));
    const move = {ArrowRight: 1, ArrowLeft: -1, PageDown: tenth, PageUp: -tenth, Home: -Infinity, End: Infinity}[event.key];
    if (move === undefined || event.ctrlKey || event.altKey || event.metaKey)
      return;
    event.preventDefault();
    choose(state.at < 0 && Number.isFinite(move) ? 0 : state.at + move);
  });
}
