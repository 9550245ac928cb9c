// SPDX-License-Identifier: MIT
// The figures of a run: computed from its trace, taken from its report, or both; then those of the report count, as the run measured them itself.
// They are those of common/metrics/report.h: the loop begins with the first assignment and ends when the last result is stored. Times are seconds,
// shares of 1; NaN: not known.

const sum = values => values.reduce((a, b) => a + b, 0);

// Maximum, mean and coefficient of variation of times.
function spreadOf(times) {
  const mean = times.length > 0 ? sum(times) / times.length : 0, most = times.reduce((a, b) => Math.max(a, b), 0);
  const deviation = Math.sqrt(sum(times.map(time => (time - mean) ** 2)) / Math.max(1, times.length));
  // percent imbalance (DeRose, Homer and Johnson 2007)
  const percent = times.length > 1 && most > 0 ? 100 * (1 - mean / most) * times.length / (times.length - 1) : 0;
  return {mean, maxOverMean: mean > 0 ? most / mean : 1, cov: mean > 0 ? deviation / mean : 0, percent};
}

// The value that a share of them does not exceed.
function quantile(sorted, share) {
  return sorted.length > 0 ? sorted[Math.ceil(share * sorted.length) - 1] : NaN;
}

function emptyFigures() {
  const figures = {workers: [], reasons: REASON_WORDS.map(() => 0), predicted: null, hasTrace: false, hasReport: false, begin_s: 0, masters: 0, nodes: 0};
  for (const name of ['iterations', 'elapsed_s', 'startup_s', 'efficiency', 'percent', 'busy_percent', 'busy_cov', 'cost_s', 'scheduling_s', 'idle_s', 'in_vain_s', 'tail_s',
    'tail_idle', 'latency_median_s', 'latency_high_s', 'chunk_median_s', 'chunk_high_s', 'messages', 'bytes_on_wire', 'refills'])
    figures[name] = NaN;
  for (const name of ['done', 'compute_s', 'verify_s', 'max_over_mean', 'cov', 'chunks', 'steps', 'lost_workers', 'recalls', 'reissued', 'duplicates', 'resumed', 'failed_iterations'])
    figures[name] = 0;
  return figures;
}

// --- of a trace ---

function figuresOfTrace(figures, trace) {
  const {facts, workers, chunks} = trace, stats = workers.map(worker => ({rank: worker.rank, node: worker.node, master: worker.master, host: worker.host, power: worker.power,
    iterations: 0, chunks: 0, compute_s: 0, wait_s: 0, finish_s: 0, isLost: !Number.isNaN(worker.lost)}));
  Object.assign(figures, {hasTrace: true, workers: stats, version: facts.version, kernel: facts.kernel, technique: facts.technique, origin: facts.origin,
    iterations: facts.iterations === undefined ? NaN : rareNumber(facts.iterations), masters: facts.masters === undefined ? 0 : rareNumber(facts.masters),
    nodes: new Set(workers.map(worker => worker.node)).size, lost_workers: stats.filter(worker => worker.isLost).length, steps: trace.cuts.length, in_vain_s: 0});
  let begin = Infinity, last = 0;
  for (let i = 0; i < chunks.length; i++) {
    begin = Math.min(begin, chunks.given[i]);
    last = Math.max(last, addChunk(figures, trace, i));
  }
  figures.resumed = sum(trace.resumed.map(range => range.count));
  figures.done += figures.resumed;
  figures.begin_s = Number.isFinite(begin) ? begin : 0;
  figures.elapsed_s = Math.max(0, last - figures.begin_s);
  stats.forEach((worker, i) => {
    worker.finish_s = Math.max(0, worker.finish_s - figures.begin_s);
    worker.wait_s = Math.max(0, (worker.isLost ? workers[i].lost - figures.begin_s : figures.elapsed_s) - worker.compute_s);
  });
  figures.compute_s = sum(stats.map(worker => worker.compute_s));
  figures.cost_s = figures.elapsed_s * stats.length;
  figures.efficiency = figures.cost_s > 0 ? figures.compute_s / figures.cost_s : NaN;
  figures.recalls = figures.reasons[RECALLED];
  figures.reissued = figures.reasons[REQUEUED];
  addSpread(figures);
  addQuantiles(figures, chunks);
}

// Adds a chunk to the sums. Returns the time at which its results were there, 0 for none.
function addChunk(figures, trace, i) {
  const {chunks} = trace, worker = figures.workers[chunks.owner[i]], reason = chunks.reason[i], fate = chunks.fate[i], isWhole = !chunks.isPart[i];
  const begun = chunks.from[i], hasBegun = !Number.isNaN(begun), ended = hasBegun ? chunks.to[i] : 0;
  const compute = !hasBegun ? 0 : Number.isNaN(chunks.compute[i]) ? ended - begun : chunks.compute[i];
  figures.reasons[reason] += isWhole;
  figures.chunks += isWhole;
  figures.duplicates += fate === DROPPED && reason !== VERIFY;
  if (classOf(reason, fate) === IN_VAIN)
    figures.in_vain_s += compute;
  else if (reason === VERIFY)
    figures.verify_s += compute;
  if (fate !== DONE)
    return 0;
  worker.compute_s += compute;
  worker.finish_s = hasBegun ? Math.max(worker.finish_s, ended) : worker.finish_s;
  worker.chunks += isWhole;
  if (reason !== VERIFY) {
    worker.iterations += chunks.count[i];
    figures.done += chunks.count[i];
  }
  return latest(worker.finish_s, chunks.stored[i]);
}

// The spread of the finishing times, the tail, and the figures of merit, of the workers that were not lost: lost ones did not finish.
function addSpread(figures) {
  const {workers, elapsed_s} = figures, stayed = workers.filter(worker => !worker.isLost), finished = stayed.filter(worker => worker.finish_s > 0);
  const finish = spreadOf(stayed.map(worker => worker.finish_s)), busy = spreadOf(stayed.map(worker => worker.compute_s)), idle = worker => Math.max(0, elapsed_s - worker.finish_s);
  Object.assign(figures, {max_over_mean: finish.maxOverMean, cov: finish.cov, percent: finish.percent, busy_percent: busy.percent, busy_cov: busy.cov});
  figures.tail_s = finished.length > 0 ? Math.max(0, elapsed_s - finished.reduce((least, worker) => Math.min(least, worker.finish_s), Infinity)) : NaN;
  figures.tail_idle = figures.cost_s > 0 ? sum(finished.map(idle)) / figures.cost_s : NaN;
  figures.scheduling_s = spreadOf(stayed.map(worker => Math.max(0, worker.finish_s - worker.compute_s))).mean;
  figures.idle_s = spreadOf(stayed.map(idle)).mean;
}

// Half and nearly all of the chunks: how long they were waited for, and computed.
function addQuantiles(figures, chunks) {
  const sorted = (fits, value) => {
    const found = new Float64Array(chunks.length);
    let length = 0;
    for (let i = 0; i < chunks.length; i++)
      if (!chunks.isPart[i] && fits(i))
        found[length++] = value(i);
    return found.subarray(0, length).sort();
  };
  const waited = sorted(i => !Number.isNaN(chunks.asked[i]), i => Math.max(0, chunks.given[i] - chunks.asked[i]));
  const computed = sorted(i => chunks.fate[i] === DONE && !Number.isNaN(chunks.compute[i]), i => chunks.compute[i]);
  Object.assign(figures, {latency_median_s: quantile(waited, .5), latency_high_s: quantile(waited, .95), chunk_median_s: quantile(computed, .5), chunk_high_s: quantile(computed, .95)});
}

// --- of a report ---

const WORKER_FIGURES = ['power', 'iterations', 'chunks', 'compute_s', 'wait_s', 'finish_s'];

function figuresOfReport(figures, report) {
  const take = (name, value) => {
    if (typeof value === typeof figures[name] || figures[name] === undefined && typeof value === 'string')
      figures[name] = value;
  };
  const {faults = {}, recalls = {}, imbalance = {}, busy = {}} = report;
  figures.hasReport = true;
  if (!figures.hasTrace)
    figures.workers = report.worker_stats.map(({rank = 0, node = 0, master = -1}) => ({rank, node, master, host: '', power: 0, iterations: 0, chunks: 0, compute_s: 0, wait_s: 0,
      finish_s: 0, isLost: false})).sort((a, b) => a.node - b.node || a.rank - b.rank);
  const known = new Map(figures.workers.map(worker => [worker.rank, worker]));
  for (const told of report.worker_stats)
    for (const name of WORKER_FIGURES)
      if (typeof told[name] === 'number' && known.has(told.rank))
        known.get(told.rank)[name] = told[name];
  for (const name of ['topology', 'outcome', 'checksum', 'iterations', 'done', 'masters', 'nodes', 'elapsed_s', 'startup_s', 'compute_s', 'efficiency', 'cost_s', 'scheduling_s', 'idle_s',
    'chunks', 'messages', 'bytes_on_wire', 'refills'])
    take(name, report[name]);
  for (const [name, value] of [['version', report.hdss], ['kernel', (report.kernel || {}).name], ['technique', (report.technique || {}).name], ['origin', report.started_at],
    ['max_over_mean', imbalance.max_over_mean], ['cov', imbalance.cov], ['percent', imbalance.percent], ['busy_percent', busy.percent], ['busy_cov', busy.cov],
    ['lost_workers', faults.lost_workers], ['reissued', faults.reissued_chunks], ['duplicates', faults.duplicate_results], ['resumed', faults.resumed_iterations],
    ['recalls', recalls.count]])
    if (typeof value === 'string')
      figures[name] = value;
    else
      take(name, value);
  figures.failed_iterations = sum([...(report.failed || []), ...(report.failed_tasks || [])].map(range => range[1] || 0));
  figures.task_failures = report.task_failures || [];
  figures.shared = report.shared;
  figures.simulation = report.simulated || {};
  takePredictions(figures, report);
}

// What `auto` predicted of each technique, the least first; those of which it predicted nothing are NaN, and last.
function takePredictions(figures, report) {
  const told = (report.technique || {}).auto, steps = report.steps || [];
  if (!told || !told.predicted_s || Object.keys(told.predicted_s).length === 0)
    return;
  const list = Object.entries(told.predicted_s).map(([technique, time]) => ({technique, predicted_s: time > 0 && time < 1e9 ? time : NaN}));
  const key = entry => Number.isNaN(entry.predicted_s) ? Infinity : entry.predicted_s;
  list.sort((a, b) => key(a) === key(b) ? (a.technique < b.technique ? -1 : 1) : key(a) - key(b));
  figures.predicted = {list, decisions: told.decisions || 0, iterations: told.iterations === undefined ? NaN : told.iterations, steps: steps.length,
    lastStep_s: steps.length > 0 ? steps[steps.length - 1].elapsed_s : 0};
}

function figuresOf(trace, report) {
  const figures = emptyFigures();
  if (trace)
    figuresOfTrace(figures, trace);
  if (report)
    figuresOfReport(figures, report);
  return figures;
}
