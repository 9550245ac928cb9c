// SPDX-License-Identifier: MIT
// Figures as people read them, as common/metrics/human.c has them, and elements of the page. Words of the run are put into the page as text, never as
// markup.

const group = value => Number.isNaN(value) ? '?' : value.toLocaleString('en-US', {maximumFractionDigits: 0});
const plural = (count, one) => `${group(count)} ${one}${count === 1 ? '' : 's'}`;
const threeDigits = value => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
const twoUnits = (total, ratio, large, small) => `${Math.floor(total / ratio)} ${large} ${String(total % ratio).padStart(2, '0')} ${small}`;

// "850 µs", "12.3 ms", "4.56 s", "3 min 05 s", "2 h 05 min", "3 d 04 h"
function humanTime(s) {
  if (!(s >= 0 && s < 1e12))
    return '?';
  if (s === 0)
    return '0 s';
  for (const [most, factor, unit] of [[.9995e-3, 1e6, 'µs'], [.9995, 1e3, 'ms'], [59.95, 1, 's']])
    if (s < most)
      return `${threeDigits(s * factor)} ${unit}`;
  if (s < 3599.5)
    return twoUnits(Math.round(s), 60, 'min', 's');
  return s < 24 * 3600 - 30 ? twoUnits(Math.round(s / 60), 60, 'h', 'min') : twoUnits(Math.round(s / 3600), 24, 'd', 'h');
}

// "319", "45.6 k", "1.23 M"
function humanSi(value) {
  let unit = 0, rest = value;
  for (; rest >= 999.5 && unit < 6; unit++)
    rest /= 1000;
  return unit === 0 && Number.isInteger(rest) ? String(rest) : threeDigits(rest) + ['', ' k', ' M', ' G', ' T', ' P', ' E'][unit];
}

// "319/s", and of what is slow "12.5/min", "3/h"
const humanRate = rate => rate * 60 < .9995 ? humanSi(rate * 3600) + '/h' : rate < .9995 ? humanSi(rate * 60) + '/min' : humanSi(rate) + '/s';
const humanShare = share => `${(100 * share).toFixed(1)} %`;

// A mean or a ratio: three digits, and all of those before the point.
function humanMean(value) {
  if (value >= 1000)
    return group(value);
  return value > 0 && value < .01 ? 'less than 0.01' : String(Number(value.toPrecision(3)));
}

// --- elements ---

const SVG = 'http://www.w3.org/2000/svg';

// An element with attributes, and with texts and elements in it.
function make(name, attributes, ...inside) {
  const element = ['svg', 'path', 'rect', 'title'].includes(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    element.setAttribute(key, value);
  element.append(...inside);
  return element;
}

// A figure that scripts and tests can find: its name and exact value, and the words for people.
const figure = (name, value, words) => make('b', {'data-figure': name, 'data-value': value}, words);
const timeFigure = (name, s) => figure(name, s, humanTime(s));
const shareFigure = (name, share) => figure(name, share, humanShare(share));
const countFigure = (name, count) => figure(name, count, group(count));

// A cell by whose value the table is sorted.
const cell = (value, words) => Number.isFinite(value) ? make('td', {'data-value': value}, words) : make('td');
const fixedCell = (value, digits) => cell(value, Number.isFinite(value) ? value.toFixed(digits) : '');
const rowHead = (text, attributes) => make('th', {scope: 'row', ...attributes}, text);

// A table in a box of its own, which the keyboard reaches. The heads are texts; `texts` are the columns whose words stand at the left.
function makeTable(id, label, heads, texts, rows) {
  const head = make('tr', null, ...heads.map((text, i) => make('th', texts.includes(i) ? {scope: 'col', class: 'text'} : {scope: 'col'}, text)));
  const table = make('table', {id}, make('thead', null, head), make('tbody', null, ...rows));
  return make('div', {class: 'table', tabindex: 0, role: 'group', 'aria-label': label}, table);
}
