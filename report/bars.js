// Bars in groups.

import {drawAxes, margins} from './charts.js';
import {words} from './figures.js';
import {hover} from './tip.js';

function drawGroupNames(svg, groups, middle, bottom, slant) {
  const labels = svg.append('g')
                     .attr('class', 'axis')
                     .selectAll('text')
                     .data(groups)
                     .join('text')
                     .attr('x', middle)
                     .attr('y', bottom + 16)
                     .attr('text-anchor', slant ? 'end' : 'middle')
                     .text(g => words(g).slice(0, 24));
  if (slant) labels.attr('transform', g => `rotate(-32 ${middle(g)} ${bottom + 10})`);
}

function drawSeries(svg, series, number, left, width, y, options) {
  const {groups, top, format} = options;
  const shown = groups.filter(g => series.values.has(g));
  const up = g => y(Math.min(top, series.values.get(g)));
  const marks = svg.append('g')
                    .selectAll('rect')
                    .data(shown)
                    .join('rect')
                    .attr('class', 'f' + (number % 8))
                    .attr('rx', 2)
                    .attr('x', left)
                    .attr('width', width)
                    .attr('y', up)
                    .attr('height', g => y(0) - up(g));
  hover(marks, g => [`${series.name}, ${words(g)}`, options.tell(series, g)]);
  if (width <= 22) return;  // too narrow for a figure
  svg.append('g')
      .selectAll('text')
      .data(shown)
      .join('text')
      .attr('class', 'fill-soft')
      .attr('text-anchor', 'middle')
      .attr('x', g => left(g) + width / 2)
      .attr('y', g => up(g) - 3)
      .text(g => format(series.values.get(g)));
}

// Draws groups of bars from 0 to `top`. `groups` is a list of names. `series` is a list of {name,
// values: Map of group to value}.
export function drawBars(svg, width, height, options) {
  const {groups, series, top, format, slant} = options;
  const size = {...margins(width, height), bottom: slant ? 84 : 40};
  const outer =
      d3.scaleBand(groups, [size.left, width - size.right]).paddingInner(0.2).paddingOuter(0.1);
  const inner = d3.scaleBand(d3.range(series.length), [0, outer.bandwidth()]).padding(0.08);
  const y = d3.scaleLinear([0, top], [height - size.bottom, size.top]);
  drawAxes(
      svg, size, d3.scaleLinear([0, 1], [size.left, size.left]), y, {x: '', y: options.name},
      {valuesX: [], x: () => '', y: format});
  const middle = g => outer(g) + outer.bandwidth() / 2;
  drawGroupNames(svg, groups, middle, height - size.bottom, slant);
  series.forEach(
      (one, i) => drawSeries(svg, one, i, g => outer(g) + inner(i), inner.bandwidth(), y, options));
}
