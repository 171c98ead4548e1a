// The metrics of a profile.

import {data} from './data.js';
import {element} from './elements.js';
import {formatDigits} from './figures.js';
import {makeTable} from './table.js';

function metricsOf(trial) {
  const packed = trial.profile && trial.profile.metrics;
  if (!packed || !packed.kinds) return new Map();
  return new Map(packed.kinds.split(',').map((kind, i) => {
    const [tag, unit, source] = data.metrics[kind];
    return [tag, {tag, value: packed.values[i], unit, source}];
  }));
}

const meaningOf = tag => (Object.hasOwn(data.meanings, tag) ? data.meanings[tag] : null);

function formatMetric(metric) {
  if (!metric || metric.value === null) return '–';
  return formatDigits(metric.value) + (metric.unit === '1' ? '' : ' ' + metric.unit);
}

export function metricTable(versions) {
  const values = versions.map(([, trial]) => metricsOf(trial));
  const tags =
      data.metrics.map(([tag]) => tag)
          .filter((tag, i, list) => list.indexOf(tag) === i && values.some(v => v.has(tag)));
  const change = (a, b) =>
      (a && b && a.value && b.value && b.value !== 0 ? a.value / b.value : null);
  const columns = [
    {title: 'metric', value: tag => element('span', {title: meaningOf(tag)}, tag)},
    ...versions.map(
        ([name], i) =>
            ({title: name, number: true, value: tag => formatMetric(values[i].get(tag))}))
  ];
  const size = tag =>
      -Math.abs(Math.log(Math.abs(change(values[0].get(tag), values[1].get(tag)) || 1)));
  if (versions.length === 2) {
    tags.sort((a, b) => size(a) - size(b));
    columns.push({
      title: `${versions[0][0]} / ${versions[1][0]}`,
      number: true,
      value: tag => {
        const c = change(values[0].get(tag), values[1].get(tag));
        return c === null ? '' : formatDigits(c) + '×';
      }
    });
  }
  columns.push({title: 'source', value: tag => (values.find(v => v.has(tag))).get(tag).source});
  return makeTable(columns, tags, {label: 'Metrics', room: 18});
}
