// Charts are SVG made with D3. They are as wide as their container, and are redrawn if that
// changes.

import {element} from './elements.js';

let drawings = [];

// Makes a chart. `draw(svg, width, height)` fills an empty SVG. `height` may be a function of the
// width.
export function makeChart(label, height, draw) {
  const svg = d3.create('svg').attr('role', 'img').attr('aria-label', label);
  const figure = element('figure', {}, svg.node());
  let last = 0;
  const redraw = force => {
    const width = Math.floor(figure.clientWidth);
    if (width === 0 || (width === last && !force)) return;
    last = width;
    const tall = typeof height === 'function' ? height(width) : height;
    svg.selectAll('*').remove();
    svg.attr('viewBox', `0 0 ${width} ${tall}`).attr('height', tall);
    draw(svg, width, tall);
  };
  drawings.push({figure, redraw});
  figure.redraw = () => redraw(true);
  return figure;
}

const watcher = new ResizeObserver(entries => {
  for (const entry of entries) drawings.find(d => d.figure === entry.target)?.redraw(false);
});

// Calls `fit` when the width of the figure has become known or has changed.
export function drawWhenSized(figure, fit) {
  let last = 0;
  const redraw = () => {
    if (figure.clientWidth === last) return;
    last = figure.clientWidth;
    fit();
  };
  drawings.push({figure, redraw});
}

// Draws the charts that are new on the page, and forgets those that have left it.
export function drawAll() {
  for (const gone of drawings.filter(d => !d.figure.isConnected)) watcher.unobserve(gone.figure);
  drawings = drawings.filter(d => d.figure.isConnected);
  for (const drawing of drawings) {
    drawing.redraw(false);
    watcher.observe(drawing.figure);
  }
}

// Draws axes with names. `x` and `y` are scales whose ranges are set. With `countsX` the x axis has
// only whole numbers.
export function drawAxes(svg, size, x, y, names, format = {}) {
  const {left, right, top, bottom, width, height} = size;
  const ticksX = Math.max(2, Math.floor((width - left - right) / 90));
  const bottomAxis = d3.axisBottom(x).ticks(ticksX).tickSizeOuter(0);
  const leftAxis = d3.axisLeft(y).ticks(6).tickSizeOuter(0);
  if (format.x) bottomAxis.tickFormat(format.x);
  if (format.y) leftAxis.tickFormat(format.y);
  if (format.countsX)
    bottomAxis.tickValues(x.ticks(ticksX).filter(Number.isInteger)).tickFormat(d3.format('d'));
  if (format.valuesX) bottomAxis.tickValues(format.valuesX);
  if (format.valuesY) leftAxis.tickValues(format.valuesY);
  svg.append('g')
      .attr('class', 'axis')
      .attr('transform', `translate(0,${height - bottom})`)
      .call(bottomAxis);
  svg.append('g').attr('class', 'axis').attr('transform', `translate(${left},0)`).call(leftAxis);
  const grid = d3.axisLeft(y).ticks(6).tickSize(-(width - left - right)).tickFormat('');
  if (format.valuesY) grid.tickValues(format.valuesY);
  svg.append('g')
      .attr('class', 'grid')
      .attr('transform', `translate(${left},0)`)
      .call(grid)
      .lower();
  svg.append('text')
      .attr('class', 'fill-soft')
      .attr('x', width - right)
      .attr('y', height - 4)
      .attr('text-anchor', 'end')
      .text(names.x);
  svg.append('text').attr('class', 'fill-soft').attr('x', 2).attr('y', top - 10).text(names.y);
}

export const margins = (width, height) =>
    ({left: 48, right: 14, top: 26, bottom: 40, width, height});

// Returns ticks for a logarithmic axis that are easy to read as ratios: 1, 2, 5 and so on.
export function ratioTicks(low, high) {
  const ticks = [];
  const steps = high / low > 2000 ? [1] :
      high / low > 30             ? [1, 3] :
      high / low > 4              ? [1, 2, 5] :
                                    [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high));
       decade += 1) {
    for (const step of steps) {
      const tick = step * 10 ** decade;
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}

export const formatTick = value => d3.format(value < 1 ? '.2~f' : '.3~r')(value) + '×';

export function drawLine(svg, className, [x1, y1], [x2, y2]) {
  svg.append('line')
      .attr('class', className)
      .attr('x1', x1)
      .attr('x2', x2)
      .attr('y1', y1)
      .attr('y2', y2);
}

export const drawRule = (svg, from, to) => drawLine(svg, 'rule', from, to);
