// SPDX-License-Identifier: MIT
// The run as its charts take it: times as whole numbers of a tick, the chunks in columns; and finding chunks in them.

const UNKNOWN = 0xffffffff;
const FATES = FATE_WORDS.length, CLASSES = CLASS_NAMES.length;
const traceBytes = await bytesOf('trace'), report = await jsonOf('report'), simulatedReport = await jsonOf('simulated');
const trace = traceBytes && readTrace(traceBytes), figures = figuresOf(trace, report);
const tree = trace && makeTree(trace, figures.begin_s, figures.elapsed_s > 0 ? figures.begin_s + figures.elapsed_s : trace.end);

// The finest power of ten by which all times are below 2^32.
function chooseTick(end) {
  let power = -9;
  while (end / Number(`1e${power}`) > 4e9)
    power++;
  return Number(`1e${power}`);
}

function makeRun() {
  const tick = chooseTick(trace ? trace.end : 1), ticks = time => Number.isNaN(time) ? UNKNOWN : Math.round(time / tick);
  return {tick, ticks, end: trace ? ticks(trace.end) : 0, begin: ticks(figures.begin_s), elapsed: figures.elapsed_s || 0, chunks: trace ? trace.chunks.length : 0,
    cuts: trace ? trace.cuts.length : 0, rows: 200, technique: figures.technique || 'the technique',
    events: trace ? trace.events.slice(0, EVENTS_MAX).map(event => [ticks(event.time), event.worker]) : []};
}

const run = makeRun();
const workers = figures.workers.map((worker, index) => {
  const traced = trace ? trace.workers[index] : {begin: 0, end: 0, lost: NaN};
  return {rank: worker.rank, node: worker.node, master: worker.master, host: worker.host, lost: Number.isNaN(traced.lost) ? -1 : run.ticks(traced.lost), finish: worker.finish_s, index,
    begin: traced.begin, end: traced.end};
});

const N = run.chunks;
// Another row tells of the same chunk, and has its times; nobody knows when it began, which is the earliest moment.
const IS_PART = 1, IS_ASSUMED = 2;

function tickColumn(name) {
  const column = new Uint32Array(N);
  for (let i = 0; i < N; i++)
    column[i] = run.ticks(trace.chunks[name][i]);
  return column;
}

const [given, asked, begun, ended, stored, compute] = TIMES.map(tickColumn);
const {first, count, number, master, reason, fate, owner} = trace ? trace.chunks : {};
const from = new Uint32Array(N), to = new Uint32Array(N), kind = new Uint8Array(N), flags = new Uint8Array(N);
for (let i = 0; i < N; i++) {
  kind[i] = classOf(reason[i], fate[i]);
  flags[i] = (trace.chunks.isPart[i] ? IS_PART : 0) | (begun[i] === UNKNOWN && !Number.isNaN(trace.chunks.assumed[i]) ? IS_ASSUMED : 0);
  if (flags[i] & IS_ASSUMED)
    begun[i] = run.ticks(trace.chunks.assumed[i]);
  from[i] = begun[i] === UNKNOWN ? given[i] : begun[i];
  to[i] = Number.isNaN(trace.chunks.from[i]) ? from[i] : run.ticks(trace.chunks.to[i]);
}

const cuts = trace && {time: trace.cuts.time.map(run.ticks), size: trace.cuts.size, formula: trace.cuts.formula.map(size => size > 0 ? size : NaN), worker: trace.cuts.worker};

// The first chunk of the worker that begins at `time` or later.
function chunkFrom(worker, time) {
  let low = worker.begin, high = worker.end;
  while (low < high) {
    const middle = low + high >> 1;
    if (from[middle] < time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The chunk that the worker computes at `time`, or -1.
function chunkAt(worker, time) {
  const i = chunkFrom(worker, time + 1e-9) - 1;
  return i >= worker.begin && time >= from[i] && time < to[i] ? i : -1;
}
