// SPDX-License-Identifier: MIT
// The stories of chunks in words. All words of the run are put into the page as text, never as markup.

const decimals = Math.min(9, Math.max(0, Math.round(-Math.log10(run.tick))));

function durationText(ticks) {
  const s = ticks * run.tick, size = Math.abs(s);
  if (size >= 7200)
    return (s / 3600).toPrecision(4) + ' h';
  if (size >= 120)
    return (s / 60).toPrecision(4) + ' min';
  const [unit, name] = size >= 1 || size === 0 ? [1, 's'] : size >= 1e-3 ? [1e3, 'ms'] : size >= 1e-6 ? [1e6, 'µs'] : [1e9, 'ns'];
  return size === 0 ? '0 s' : Number((s * unit).toPrecision(4)) + ' ' + name;
}

const timeText = ticks => (ticks * run.tick).toFixed(Math.min(decimals, 6)) + ' s';

const REASONS = {
  own: 'The technique had cut it for this worker.',
  other: 'The technique had cut it for another worker; this one asked while it lay in the pool.',
  cut: 'The technique cut it as the worker asked.',
  requeued: 'Another worker had it, and was lost or failed.',
  recalled: 'Another worker had it and had not begun it; it was recalled as this one had nothing to do.',
  copy: 'A speculative copy: another worker computes it, too, and nothing else was left.',
  verify: 'It was computed again, to compare its results with those of another worker.',
  adopted: 'The worker was at it when its master was lost; the supermaster took both over.',
};
const ENDS = {
  done: 'Its results were taken.',
  lost: 'It was lost with the worker.',
  returned: 'It was given back before it had begun.',
  dropped: 'Its results were not kept: those of another worker are, or they were only compared.',
  failed: 'It failed.',
  open: 'It had not ended when the trace ended.',
  undone: 'It was not computed, as the run ended early.',
};

const nameOf = worker => `Worker ${worker.rank} on node ${worker.node}` + (worker.host ? ` (${worker.host})` : '');

// The story of a chunk, in words.
function storyOf(i) {
  const worker = workers[owner[i]], parts = [];
  const what = Number.isNaN(first[i]) || count[i] === 0 ? `${group(count[i])} iterations`
    : count[i] === 1 ? `iteration ${group(first[i])}`
    : `iterations ${group(first[i])} to ${group(first[i] + count[i] - 1)} (${group(count[i])})`;
  parts.push(`${nameOf(worker)}, ${flags[i] & IS_PART ? 'a part of ' : ''}chunk ${number[i] || i - worker.begin + 1}: ${what}.`);
  const by = master[i] < 0 ? '' : master[i] === 0 ? ' by the supermaster' : ` by master ${master[i]}`;
  parts.push(asked[i] === UNKNOWN ? `Given${by} at ${timeText(given[i])}` : `Asked for at ${timeText(asked[i])}, given${by} ${durationText(given[i] - asked[i])} later`);
  if (begun[i] === UNKNOWN) {
    parts[1] += ', never begun.';
  } else {
    parts[1] += flags[i] & IS_ASSUMED ? `; when it began is not known, at ${timeText(begun[i])} at the earliest.`
      : `, begun at ${timeText(begun[i])}, ${durationText(begun[i] - given[i])} after that.`;
    if (ended[i] !== UNKNOWN)
      parts.push(`Ended at ${timeText(ended[i])} after ${durationText(ended[i] - begun[i])}` +
        (compute[i] !== UNKNOWN ? `, ${durationText(compute[i])} of it in the kernel` : '') +
        (stored[i] !== UNKNOWN ? `; stored ${durationText(stored[i] - ended[i])} later.` : '.'));
  }
  const before = i > worker.begin ? from[i] - to[i - 1] : from[i] - run.begin;
  if (begun[i] !== UNKNOWN && flags[i] === 0 && before > 0)
    parts.push(`Before it the worker waited for ${durationText(before)}.`);
  parts.push(REASONS[REASON_WORDS[reason[i]]] || '', ENDS[FATE_WORDS[fate[i]]] || '');
  return parts.filter(part => part !== '').join(' ');
}

function show(place, text, isPinned) {
  if (place.textContent !== text)
    place.textContent = text;
  place.classList.toggle('pinned', Boolean(isPinned));
}
