// SPDX-License-Identifier: MIT
// What the page says in words and tables.

const isKnown = value => !Number.isNaN(value) && value !== undefined;

function makeHead(figures) {
  const title = (figures.kernel || 'a loop') + (figures.technique ? ` by ${figures.technique}` : '') + `, ${plural(figures.workers.length, 'worker')}`;
  document.title = `${title} – HDSS`;
  byId('title').textContent = title;
  const parts = [plural(figures.nodes, 'node'), ...figures.masters > 0 ? [plural(figures.masters, 'master')] : [], ...figures.topology ? [figures.topology] : []].join(', ');
  byId('subtitle').textContent = parts + (figures.origin ? ` · began ${figures.origin}` : '') + (figures.version ? ` · HDSS ${figures.version}` : '');
}

// --- the figures ---

function makeTiles(figures) {
  const add = (label, value, about) => byId('tiles').append(make('div', null, make('dt', null, label), make('dd', null, value, make('small', null, about))));
  if (isKnown(figures.elapsed_s))
    add('Loop time', timeFigure('elapsed_s', figures.elapsed_s), 'first assignment to last stored result');
  if (isKnown(figures.efficiency))
    add('Efficiency', shareFigure('efficiency', figures.efficiency), `of the ${figures.shared ? 'cores’' : 'workers’'} time computed what counts`);
  add('Chunks', countFigure('chunks', figures.chunks), figures.hasReport ? 'cut by the technique' : 'given to workers');
  if (figures.max_over_mean > 0)
    add('Imbalance', figure('max_over_mean', figures.max_over_mean, figures.max_over_mean.toFixed(3)), 'latest finishing time over the mean');
  if (isKnown(figures.tail_s))
    add('Tail', timeFigure('tail_s', figures.tail_s), 'from the first worker without work to the end');
  add('Lost workers', countFigure('lost_workers', figures.lost_workers), figures.lost_workers > 0 ? 'their work was given to others' : 'all stayed to the end');
}

function makeSummary(figures) {
  const of = isKnown(figures.iterations) ? [countFigure('iterations', figures.iterations), ' iterations of '] : [];
  const parts = [figures.technique || 'The technique', figures.resumed > 0 ? ' cut what was left of ' : ' cut ', ...of, figures.kernel || 'the loop'];
  if (figures.steps > 0)
    parts.push(' in ', countFigure('steps', figures.steps), ' scheduling steps');
  parts.push(' for ', countFigure('workers', figures.workers.length), figures.workers.length === 1 ? ' worker on ' : ' workers on ', countFigure('nodes', figures.nodes),
    figures.nodes === 1 ? ' node; ' : ' nodes; ', countFigure('done', figures.done), ' iterations are done');
  if (figures.resumed > 0)
    parts.push(', ', countFigure('resumed', figures.resumed), ' of them by an earlier run, from which this one went on');
  if (figures.failed_iterations > 0)
    parts.push(', ', countFigure('failed_iterations', figures.failed_iterations), ' failed');
  parts.push('.');
  if (figures.outcome)
    parts.push(` The run ended as “${figures.outcome}”.`);
  if (isUneventful(figures))
    parts.push(' No chunk was computed twice, and no work was moved.');
  byId('words').append(make('p', null, ...parts));
  if (figures.shared)
    byId('words').append(make('p', {class: 'note'}, `The ${plural(figures.workers.length, 'worker')} shared ${plural(figures.shared.cores, 'core')}: together they were in the kernel for `,
      timeFigure('inside_s', sum(figures.workers.map(worker => worker.compute_s))), ', and had a core for ', timeFigure('shared_s', figures.shared.compute_s),
      ' of it. Efficiency and cost are those of the cores.'));
}

const isUneventful = figures => figures.reissued + figures.recalls + figures.reasons[COPY] + figures.reasons[VERIFY] + figures.duplicates === 0 && !(figures.in_vain_s > 0);

// All figures, each with what it is; those that are known, and of incidents those that came about.
function makeFigures(figures) {
  const wait_s = sum(figures.workers.map(worker => worker.wait_s)) / Math.max(1, figures.workers.length), hasTime = isKnown(figures.elapsed_s) && figures.workers.length > 0, {reasons} = figures;
  const hasMerit = isKnown(figures.cost_s) && isKnown(figures.percent) && isKnown(figures.busy_percent), hasGiven = figures.hasTrace && figures.chunks > 0;
  const number = (name, value) => figure(name, value, value.toFixed(3)), percent = (name, value) => figure(name, value, `${value.toFixed(1)} %`);
  const rows = [
    [hasGiven, 'Own chunks', countFigure, 'own', reasons[OWN] + reasons[CUT_NOW], 'chunks that were cut for the worker that was given them'],
    [hasGiven, 'Chunks of others', countFigure, 'other', reasons[OTHER], 'chunks that were cut for another worker than the one that was given them'],
    [isKnown(figures.latency_median_s), 'Waiting for a chunk', timeFigure, 'latency_median_s', figures.latency_median_s, 'from asking to being given, median'],
    [isKnown(figures.latency_high_s), 'Waiting for a chunk, 95 %', timeFigure, 'latency_high_s', figures.latency_high_s, 'in 95 % of the cases at most'],
    [isKnown(figures.chunk_median_s), 'Computing a chunk', timeFigure, 'chunk_median_s', figures.chunk_median_s, 'inside the kernel, median'],
    [isKnown(figures.chunk_high_s), 'Computing a chunk, 95 %', timeFigure, 'chunk_high_s', figures.chunk_high_s, 'of 95 % of the chunks at most'],
    [hasTime, 'Computed', timeFigure, 'compute_s', figures.compute_s, 'by all workers together, what counts'],
    [hasTime, 'Waited', timeFigure, 'wait_s', wait_s, 'by a worker in the mean'],
    [isKnown(figures.startup_s), 'Start-up', timeFigure, 'startup_s', figures.startup_s, 'until the first assignment'],
    [isKnown(figures.tail_s), 'Begin of the tail', timeFigure, 'tail_begins_s', figures.elapsed_s - figures.tail_s, 'after the beginning the first worker had nothing more to do'],
    [isKnown(figures.tail_s), 'Idle in the tail', shareFigure, 'tail_idle', figures.tail_idle, 'of the workers’ time was spent waiting for the others from then on'],
    [isKnown(figures.cov) && figures.max_over_mean > 0, 'Imbalance', number, 'cov', figures.cov, 'coefficient of variation of the finishing times'],
    [hasMerit, 'Imbalance in percent', percent, 'percent', figures.percent, 'percent imbalance of the finishing times: 100 (max − mean) / max · n / (n − 1) of n workers (DeRose, Homer and Johnson 2007)'],
    [hasMerit, 'Imbalance of computing', number, 'busy_cov', figures.busy_cov, 'coefficient of variation of the times computed'],
    [hasMerit, 'Imbalance of computing in percent', percent, 'busy_percent', figures.busy_percent, 'percent imbalance of the times computed'],
    [hasMerit, 'Parallel cost', timeFigure, 'cost_s', figures.cost_s, `loop time of all ${figures.shared ? 'cores' : 'workers'} together`],
    [hasMerit, 'Overhead of scheduling', timeFigure, 'scheduling_s', figures.scheduling_s, 'a worker was without a chunk before its last one ended, in the mean'],
    [hasMerit, 'Idle', timeFigure, 'idle_s', figures.idle_s, 'a worker had nothing more to do, in the mean'],
    [figures.reissued > 0, 'Given again', countFigure, 'reissued', figures.reissued, 'chunks after a loss or failure'],
    [figures.hasReport && figures.reissued > 0 && reasons[REQUEUED] > 0, 'Given again, in pieces', countFigure, 'pieces', reasons[REQUEUED], 'assignments that this took'],
    [figures.recalls > 0, 'Recalls', countFigure, 'recalls', figures.recalls, 'which brought work to workers that waited'],
    [reasons[COPY] > 0, 'Speculative copies', countFigure, 'copies', reasons[COPY], 'begun'],
    [reasons[VERIFY] > 0, 'Verified', countFigure, 'verifications', reasons[VERIFY], 'chunks that were computed again to compare the results'],
    [figures.verify_s > 0, 'Verifying', timeFigure, 'verify_s', figures.verify_s, 'that this took'],
    [figures.duplicates > 0, 'Duplicates', countFigure, 'duplicates', figures.duplicates, 'results that came twice and were dropped'],
    [figures.in_vain_s > 0, 'In vain', timeFigure, 'in_vain_s', figures.in_vain_s, 'computing that came to nothing'],
    [isKnown(figures.messages), 'Messages', countFigure, 'messages', figures.messages, 'between the daemons'],
    [isKnown(figures.bytes_on_wire), 'Bytes', (name, value) => figure(name, value, `${humanSi(value)}B`), 'bytes_on_wire', figures.bytes_on_wire, 'of all messages'],
  ].filter(([isShown]) => isShown).map(([, label, words, name, value, about]) => make('tr', null, rowHead(label), make('td', null, words(name, value)), make('td', {class: 'text'}, about)));
  if (figures.checksum)
    rows.push(make('tr', null, rowHead('Checksum'), make('td', null, make('code', null, figures.checksum)), make('td', {class: 'text'}, 'of the results')));
  byId('figures').append(makeTable('figure-table', 'Table of figures', ['Figure', 'Value', 'What it is'], [0, 2], rows));
}

// --- supermaster, masters and workers ---

const LISTED_MAX = 64; // workers of a branch that are listed below it; the table of workers has all

function countsText(counts) {
  const parts = [[counts.other, 'cut for others'], [counts.recalled, 'recalled'], [counts.again, 'given again']].filter(([count]) => count > 0);
  return [plural(counts.chunks, 'chunk'), ...parts.map(([count, what]) => `${group(count)} ${what}`)].join(', ');
}

function workerList(tree, branch, summary) {
  const items = branch.workers.slice(0, LISTED_MAX).map(worker => make('li', null,
    `Worker ${worker.rank}${Number.isNaN(worker.lost) ? '' : ' (lost)'}: ${countsText(tree.ofWorker[worker.index])}`));
  if (branch.workers.length > LISTED_MAX)
    items.push(make('li', null, `and ${group(branch.workers.length - LISTED_MAX)} more, in the table of workers`));
  return make('details', null, make('summary', null, summary), make('ul', null, ...items));
}

// Of all messages of the run: those of the daemons are not told one by one.
function messagesOf(figures) {
  if (!isKnown(figures.messages))
    return [];
  const parts = [`Supermaster, masters and workers sent ${plural(figures.messages, 'message')} in the whole run`], each = figures.messages / figures.chunks, rate = figures.messages / figures.elapsed_s;
  if (figures.chunks > 0)
    parts.push(', ', figure('messages_per_chunk', each, humanMean(each)), ' for each chunk');
  if (figures.elapsed_s > 0)
    parts.push('; over the loop time that is ', figure('messages_per_s', rate, humanRate(rate)));
  parts.push('.');
  if (figures.refills > 0)
    parts.push(' The task pools were refilled ', countFigure('refills', figures.refills), ` time${figures.refills === 1 ? '' : 's'}.`);
  return [make('p', null, ...parts)];
}

// Who served whom, as far as a report tells.
function shortTree(figures) {
  const workers = plural(figures.workers.length, 'worker');
  return make('p', null, figures.masters > 0
    ? `The supermaster cut the loop for ${plural(figures.masters, 'master')}, which served ${workers}. What each master gave and had in its pool is in a trace.`
    : `There are no masters: ${workers} got ${figures.workers.length === 1 ? 'its' : 'their'} chunks from the supermaster, or drew them themselves.`);
}

// "438 chunks to 64 workers, 13.9 k/s: 300 cut for ..."
function givenParts(tree, figures) {
  const {counts, served} = tree.all, rate = counts.chunks / figures.elapsed_s;
  return [`${plural(counts.chunks, 'chunk')} to ${plural(served, 'worker')}`, ...figures.elapsed_s > 0 ? [', ', figure('chunks_per_s', rate, humanRate(rate))] : [],
    `: ${group(counts.own)} cut for the worker that got them, ${group(counts.other)} for another one, ${group(counts.recalled)} recalled, ${group(counts.again)} given again.`];
}

function treeWords(tree, figures) {
  if (tree.masters === 0)
    return [make('p', null, 'There are no masters: the supermaster served all workers itself, with no task pools in between. It gave ', ...givenParts(tree, figures)),
      workerList(tree, tree.all, `Its ${plural(tree.all.workers.length, 'worker')}`)];
  const {pool} = tree.all;
  return [make('p', null, `The supermaster cut ${plural(pool.cut, 'iteration')}`, figures.iterations < pool.cut ? ', some of them again after a loss,' : '',
    ` for the workers of ${plural(tree.masters, 'master')}`, tree.masters === 1 ? '; that gave ' : '; these gave ', ...givenParts(tree, figures), ' On average ',
    figure('pool_mean_chunks', pool.meanChunks, humanMean(pool.meanChunks)), ' chunks lay in the task pools together; ',
    ...pool.moved === 0 ? ['no iterations were'] : [countFigure('moved', pool.moved), pool.moved === 1 ? ' iteration was' : ' iterations were'],
    ' moved from the pool of one master to workers of another.')];
}

// A depth over time: steps from the left edge to the right one.
function depthPath(depths, most) {
  const height = depth => Number((37 - 34 * depth / most).toPrecision(3));
  let shown = depths[0], path = `M0 ${height(shown)}`;
  for (let i = 1; i < POOL_PARTS; i++) {
    if (depths[i] === shown)
      continue;
    shown = depths[i];
    path += `H${i}V${height(shown)}`;
  }
  return `${path}H${POOL_PARTS}`;
}

function poolCell(name, pool, scale, begin) {
  const words = pool.mostIterations === 0 ? 'nothing ever lay there.' : `at most ${group(pool.mostIterations)} iterations, ${humanTime(Math.max(0, pool.mostAt - begin))} after the beginning, ` +
    `and at most ${group(pool.mostChunks)} chunks; nothing for ${(100 * pool.empty).toFixed(0)} % of the time.`;
  const chart = make('svg', {viewBox: `0 0 ${POOL_PARTS} 38`, preserveAspectRatio: 'none', role: 'img'}, make('title', null, `Task pool of ${name} over time: ${words}`));
  if (scale.iterations > 0)
    chart.append(make('path', {class: 'iterations', d: `${depthPath(pool.depths, scale.iterations)}V37H0z`}), make('path', {class: 'chunks', d: depthPath(pool.chunkDepths, scale.chunks)}));
  return make('td', {class: 'pool'}, chart);
}

// What a chart of a pool is drawn to: the most of any branch, so that they can be compared.
const scaleOf = branches => ({iterations: Math.max(...branches.map(branch => branch.pool.mostIterations)), chunks: Math.max(...branches.map(branch => branch.pool.mostChunks))});

function branchName({ranks}) {
  if (ranks.length < 2)
    return ranks.length === 0 ? 'The supermaster itself' : `Master ${ranks[0]}`;
  return `${ranks.length} masters, ${ranks[0]} to ${ranks[ranks.length - 1]}`;
}

function branchRow(tree, figures, branch, name, head, scale) {
  const {pool, counts, served, workers} = branch, rate = counts.chunks / figures.elapsed_s, countCell = value => cell(value, group(value));
  return make('tr', null, head, poolCell(name, pool, scale, tree.begin), countCell(pool.mostIterations), countCell(pool.mostChunks),
    cell(served, group(served) + (served < workers.length ? ` of ${group(workers.length)}` : '')), countCell(counts.chunks), make('td', null, figures.elapsed_s > 0 ? humanRate(rate) : ''),
    countCell(counts.own), countCell(counts.other), countCell(counts.recalled), countCell(counts.again), countCell(pool.moved));
}

function branchTable(tree, figures) {
  const heads = ['Rank', 'Task pool over time', 'Most iterations there', 'Most chunks there', 'Workers served', 'Chunks given', 'per second', 'cut for this worker', 'cut for another', 'recalled',
    'given again', 'moved away'];
  const scale = scaleOf(tree.branches), rows = tree.branches.map(branch => {
    const name = branchName(branch);
    return branchRow(tree, figures, branch, name, make('th', {scope: 'row', class: 'branch'}, branch.workers.length > 0 ? workerList(tree, branch, name) : name), scale);
  });
  rows.unshift(branchRow(tree, figures, tree.all, 'all masters together', rowHead('Supermaster, all masters'), scaleOf([tree.all])));
  return [makeTable('tree', 'Table of masters', heads, [0, 1], rows), make('p', {class: 'note'}, 'Open a master for its workers. Moved away are iterations that lay in its pool when ' +
    'another master gave them to a worker. In the charts the area is iterations in the pool, the line chunks, over the loop time; those of the masters are drawn to one scale. ' +
    'A trace has no rows about pools: an iteration counts from the scheduling step in which it was cut for a worker of the master until a worker is given it for the first time, and ' +
    'its chunk as long as any iteration of it does. So iterations that are on their way from the supermaster count, too.')];
}

function makeTreeSection(tree, figures) {
  byId('tree-section').append(...tree ? treeWords(tree, figures) : [shortTree(figures)], ...messagesOf(figures), ...tree && tree.masters > 0 ? branchTable(tree, figures) : []);
}

// --- predicted, and what came ---

// "4.88 times as long as", "8.1 % longer than", "as long as"
function compared(ratio, alike, times, more, less) {
  if (Math.abs(ratio - 1) < .0005)
    return alike;
  return ratio >= 2 ? `${ratio.toFixed(ratio < 10 ? 2 : 0)} ${times}` : `${(100 * Math.abs(ratio - 1)).toFixed(1)} % ${ratio > 1 ? more : less} than`;
}

const longer = ratio => compared(ratio, 'as long as', 'times as long as', 'longer', 'shorter');
const asMuch = ratio => compared(ratio, 'as much as', 'times as much as', 'more', 'less');

function ratioCell(name, ratio) {
  return Number.isFinite(ratio) ? make('td', {...name && {'data-figure': name}, 'data-value': ratio}, ratio.toFixed(ratio < 100 ? 3 : 0)) : make('td');
}

// The time that the latest prediction was of: of the whole loop, or of its last time step, if that was decided before it began; without what an
// earlier run had done. NaN if it was decided in the middle, or not all is done.
function timePredicted({iterations, done, resumed, elapsed_s, predicted}) {
  if (!isKnown(iterations) || done !== iterations)
    return NaN;
  if (predicted.steps > 0 && predicted.iterations === Math.floor(iterations / predicted.steps) && predicted.lastStep_s > 0)
    return predicted.lastStep_s;
  return predicted.iterations === iterations - resumed && elapsed_s > 0 ? elapsed_s : NaN;
}

function makeAuto(figures) {
  const {predicted, technique} = figures, actual = timePredicted(figures), chosen = (predicted.list.find(entry => entry.technique === technique) || {predicted_s: NaN}).predicted_s;
  const most = Math.max(0, ...[actual, ...predicted.list.map(entry => entry.predicted_s)].filter(isKnown));
  const parts = [make('code', null, '--technique auto'), ` decided ${predicted.decisions === 1 ? 'once' : plural(predicted.decisions, 'time')}`];
  if (isKnown(predicted.iterations))
    parts.push(`, ${predicted.decisions > 1 ? 'the last time ' : ''}for ${plural(predicted.iterations, 'iteration')}`);
  parts.push(`, and took ${technique || 'a technique'}`);
  if (!isKnown(chosen)) {
    parts.push(', of which it could predict no time.');
  } else {
    parts.push(', which was predicted to take ', timeFigure('predicted_s', chosen), '. ');
    if (isKnown(actual))
      parts.push(predicted.steps > 0 ? 'The last time step took ' : 'The loop took ', timeFigure('predicted_actual_s', actual), `, ${longer(actual / chosen)} predicted.`);
    else
      parts.push('The loop time is not of just these iterations, and cannot be compared with that.');
    parts.push(' All predictions take the pace of each worker and the way of a message as they were measured by then; nobody knows how long the other techniques would have taken.');
  }
  const rows = predicted.list.map(entry => {
    const isChosen = entry.technique === technique, bar = make('svg', {viewBox: '0 0 240 10', preserveAspectRatio: 'none', 'aria-hidden': 'true'});
    if (isKnown(entry.predicted_s))
      bar.append(make('rect', {class: 'predicted', width: 236 * entry.predicted_s / most, height: 10}));
    if (isKnown(actual))
      bar.append(make('path', {class: 'actual', d: `M${236 * actual / most} 0v10`}));
    return make('tr', isChosen ? {class: 'chosen'} : null, rowHead(entry.technique + (isChosen ? ' (taken)' : '')), make('td', null, bar),
      isKnown(entry.predicted_s) ? fixedCell(entry.predicted_s, 6) : make('td', null, 'not predicted'), ratioCell(null, entry.predicted_s / chosen), fixedCell(isChosen ? actual : NaN, 6),
      ratioCell('actual_over_predicted', isChosen ? actual / entry.predicted_s : NaN));
  });
  const heads = ['Technique', 'Bar: predicted; line: the run', 'Predicted (s)', 'Over the one taken', 'It took (s)', 'Over the prediction'];
  byId('predicted-section').append(make('p', null, ...parts), makeTable('predicted', 'Table of predicted techniques', heads, [0, 1], rows));
}

// In what the simulation differs from the run, for which its figures differ, too.
function differences(simulated, actual) {
  const counted = [['iterations', simulated.iterations, actual.iterations], ['iterations from an earlier run', simulated.resumed, actual.resumed],
    ['workers', simulated.workers.length, actual.workers.length], ['masters', simulated.masters, actual.masters]].filter(([, a, b]) => isKnown(a) && isKnown(b));
  const parts = [['its kernel is', simulated.kernel, actual.kernel], ['its technique is', simulated.technique, actual.technique],
    ...counted.map(([what, a, b]) => [`its number of ${what} is`, group(a), group(b)])].filter(([, a, b]) => a !== undefined && b !== undefined && a !== b);
  return parts.length === 0 ? [] : [make('p', {class: 'note'}, `The simulation is not of just this run: ${parts.map(([what, a, b]) => `${what} ${a}, that of the run ${b}`).join('; ')}.`)];
}

function comparison(simulated, actual) {
  const {platform, backend, repetitions = 0, elapsed_s = {}} = simulated.simulation, parts = ['The loop was simulated', platform ? ` on ${platform}` : '', backend ? ` (${backend})` : '', ' to take ',
    timeFigure('simulated_s', simulated.elapsed_s)], least = humanTime(elapsed_s.least), most = humanTime(elapsed_s.most);
  if (repetitions > 1)
    parts.push(`, the median of ${group(repetitions)} repetitions`, least === most ? '' : ` that took ${least} to ${most}`);
  parts.push('; it took ', timeFigure('simulated_actual_s', actual.elapsed_s), `, ${longer(actual.elapsed_s / simulated.elapsed_s)} simulated.`);
  if (simulated.compute_s > 0 && actual.compute_s > 0)
    parts.push(` The costs of the iterations explain this much of it: all workers together computed ${asMuch(actual.compute_s / simulated.compute_s)} simulated.`);
  const points = 100 * (actual.efficiency - simulated.efficiency);
  if (isKnown(points))
    parts.push(Math.abs(points) < .05 ? ' The efficiency is the simulated one.' : ` The efficiency is ${Math.abs(points).toFixed(1)} percentage points ${points > 0 ? 'higher' : 'lower'}.`);
  return make('p', null, ...parts);
}

function makeSimulated(simulated, actual) {
  const rows = [['Loop time (s)', 'elapsed_ratio', simulated.elapsed_s, actual.elapsed_s, 6], ['Efficiency', 'efficiency_ratio', simulated.efficiency, actual.efficiency, 4],
    ['Imbalance', 'imbalance_ratio', simulated.max_over_mean, actual.max_over_mean, 4], ['Computed by all (s)', 'compute_ratio', simulated.compute_s, actual.compute_s, 6],
    ['Chunks', 'chunks_ratio', simulated.chunks, actual.hasReport ? actual.chunks : actual.steps, 0], ['Messages', 'messages_ratio', simulated.messages, actual.messages, 0]];
  byId('predicted-section').append(...simulated.elapsed_s > 0 && actual.elapsed_s > 0 ? [comparison(simulated, actual)] : [], ...differences(simulated, actual),
    makeTable('simulated', 'Table of simulated figures', ['Figure', 'Simulated', 'The run', 'The run over simulated'], [0],
      rows.map(([label, name, a, b, digits]) => make('tr', null, rowHead(label), fixedCell(a, digits), fixedCell(b, digits), ratioCell(name, b / a)))));
}

// --- workers and events ---

const EVENTS_MAX = 2000; // that the page shows

function makeWorkers(figures) {
  byId('workers-section').append(makeTable('workers', 'Table of workers', ['Worker', 'Node', 'Host', 'Power', 'Iterations', 'Chunks', 'Computed (s)', 'Waited (s)', 'Finished (s)'], [2],
    figures.workers.map(worker => make('tr', null, rowHead(worker.rank + (worker.isLost ? ' (lost)' : ''), {'data-value': worker.rank}), fixedCell(worker.node, 0), make('td', null, worker.host),
      worker.power > 0 ? cell(worker.power, String(Number(worker.power.toPrecision(6)))) : make('td'), fixedCell(worker.iterations, 0), fixedCell(worker.chunks, 0),
      ...[worker.compute_s, worker.wait_s, worker.finish_s].map(time => fixedCell(time, 6))))));
}

// The tasks that failed, the last ones first, of `all`.
function makeFailures(failures, all) {
  const rows = failures.map(({task, end, command, error}) => make('tr', null, rowHead(group(task), {'data-value': task}), ...[end, command, error].map(text => make('td', {class: 'text'}, text))));
  byId('failures-section').append(makeTable('failures', 'Table of failed tasks', ['Task', 'Ended', 'Command', 'Last line of its errors'], [1, 2, 3], rows));
  if (all > failures.length)
    byId('failures-section').append(make('p', null, `These are the last ${group(failures.length)} of ${group(all)}; `, make('code', null, 'hdss log'), ' lists all.'));
}

function makeEvents(events) {
  const count = value => make('td', null, Number.isNaN(value) ? '' : String(value));
  byId('events-section').append(makeTable('events', 'Table of events', ['Time (s)', 'Worker', 'First iteration', 'Iterations', 'What'], [4], events.slice(0, EVENTS_MAX).map(event =>
    make('tr', null, make('td', null, event.time.toFixed(6)), make('td', null, event.worker < 0 ? '' : String(event.worker)), count(event.first), count(event.count), make('td', null, event.text)))));
  if (events.length > EVENTS_MAX)
    byId('events-section').append(make('p', null, `These are the first ${group(EVENTS_MAX)} of ${group(events.length)}; the trace has all.`));
}
