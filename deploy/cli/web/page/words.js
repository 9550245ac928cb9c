// SPDX-License-Identifier: MIT
// Numbers and times in words. All that comes of a session is put into the page as text, never as markup.

const byId = id => document.getElementById(id);
const isNumber = value => typeof value === 'number' && Number.isFinite(value);
const group = value => isNumber(value) ? value.toLocaleString('en-US', {maximumFractionDigits: 0}) : '–';
const count = (value, one) => `${group(value)} ${one}${value === 1 ? '' : 's'}`;

function rateText(rate) {
  if (!isNumber(rate))
    return '–';
  if (rate >= 1000)
    return group(rate) + '/s';
  return (rate === 0 ? '0' : String(Number(rate.toPrecision(3)))) + '/s';
}

function spanText(s) {
  if (!isNumber(s))
    return '–';
  if (s < 0.0095)
    return `${Number((s * 1000).toPrecision(2))} ms`;
  if (s < 10)
    return `${s.toFixed(s < 1 ? 2 : 1)} s`;
  if (s < 60)
    return `${Math.round(s)} s`;
  const minutes = Math.floor(s / 60);
  if (s < 3600)
    return `${minutes} min ${Math.floor(s % 60)} s`;
  return s < 172800 ? `${Math.floor(s / 3600)} h ${minutes % 60} min` : `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

// Of times that are estimated anyway: two or three digits.
function roughText(s) {
  if (!isNumber(s) || s < 120)
    return spanText(isNumber(s) && s >= 60 ? Math.round(s) : s).replace(/^1 min (\d+) s$/, (_, rest) => `${60 + Number(rest)} s`);
  const [unit, name] = s < 7200 ? [60, 'min'] : s < 172800 ? [3600, 'h'] : [86400, 'd'], value = s / unit;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${name}`;
}

// A unit that both have stands behind the second alone.
function rangeText(least, most) {
  const unit = / \D+$/.exec(least)?.[0];
  return `${unit && most.endsWith(unit) ? least.slice(0, -unit.length) : least} to ${most}`;
}

const timeText = when => new Date(when).toLocaleTimeString('en-GB');
const isOver = job => ['done', 'failed', 'cancelled', 'over'].includes(job.state); // over: how is not known yet
const hasTotal = job => isNumber(job.total) && job.total > 0;

// 100 % is only what is all.
function percentText(job) {
  if (!hasTotal(job))
    return group(job.done);
  const percent = job.done >= job.total ? 100 : Math.min(99.9, 100 * job.done / job.total);
  return percent.toFixed(percent === 100 ? 0 : 1) + ' %';
}

function endText(job) {
  if (isOver(job))
    return isNumber(job.elapsed_s) && job.elapsed_s > 0 ? `took ${spanText(job.elapsed_s)}` : '';
  if (!isNumber(job.eta_s))
    return '–';
  const band = isNumber(job.eta_soonest_s) && (!isNumber(job.eta_latest_s) || job.eta_latest_s - job.eta_soonest_s > 1)
    ? ` (${rangeText(roughText(job.eta_soonest_s), isNumber(job.eta_latest_s) ? roughText(job.eta_latest_s) : 'nobody knows')})` : '';
  return `in ${roughText(job.eta_s)}${band}`;
}

const rateOf = job => isNumber(job.rate_now_per_s) ? job.rate_now_per_s : job.rate_per_s;

// Changes nothing where the text is that already, so that a selection of it stays.
function setText(element, text) {
  if (element.textContent !== text)
    element.textContent = text;
}
