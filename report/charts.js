// Charts are SVG made with D3. They are as wide as their container, and are redrawn if that
// changes.
'use strict';

page.drawings = [];

// Makes a chart. `draw(svg, width, height)` fills an empty SVG. `height` may be a function of the
// width.
page.chart = function(label, height, draw) {
  const svg = d3.create('svg').attr('role', 'img').attr('aria-label', label);
  const figure = page.element('figure', {}, svg.node());
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
  page.drawings.push({figure, redraw});
  figure.redraw = () => redraw(true);
  return figure;
};

page.watcher = new ResizeObserver(entries => {
  for (const entry of entries) page.drawings.find(d => d.figure === entry.target)?.redraw(false);
});

// Draws the charts that are new on the page, and forgets those that have left it.
page.drawAll = function() {
  for (const gone of page.drawings.filter(d => !d.figure.isConnected))
    page.watcher.unobserve(gone.figure);
  page.drawings = page.drawings.filter(d => d.figure.isConnected);
  for (const drawing of page.drawings) {
    drawing.redraw(false);
    page.watcher.observe(drawing.figure);
  }
};

// Draws axes with names. `x` and `y` are scales whose ranges are set. With `countsX` the x axis has
// only whole numbers.
page.axes = function(svg, size, x, y, names, format = {}) {
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
};

page.margins = (width, height) => ({left: 48, right: 14, top: 26, bottom: 40, width, height});

// Returns ticks for a logarithmic axis that are easy to read as ratios: 1, 2, 5 and so on.
page.ratioTicks = function(low, high) {
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
};
page.ratioLabel = value => d3.format(value < 1 ? '.2~f' : '.3~r')(value) + '×';

page.swatch = function(shape, className) {
  const svg = d3.create('svg').attr('viewBox', '0 0 12 12').attr('aria-hidden', 'true');
  if (shape === 'line')
    svg.append('line').attr('x1', 0).attr('x2', 12).attr('y1', 6).attr('y2', 6).attr(
        'class', 'line ' + className);
  else if (shape === 'square')
    svg.append('rect').attr('width', 12).attr('height', 12).attr('rx', 2).attr('class', className);
  else
    svg.append('path')
        .attr('transform', 'translate(6,6)')
        .attr('d', d3.symbol().type(page.symbols[shape]).size(70)())
        .attr('class', className);
  return svg.node();
};
page.symbols = {
  circle: d3.symbolCircle,
  star: d3.symbolStar,
  diamond: d3.symbolDiamond,
  triangle: d3.symbolTriangle,
  cross: d3.symbolCross,
  square: d3.symbolSquare
};

// Makes a legend. `entries` is a list of [shape, class, name].
page.legend = entries => page.element(
    'ul', {class: 'legend'},
    entries.map(
        ([shape, className, name]) => page.element('li', {}, page.swatch(shape, className), name)));

// Shows a tip about a mark while the pointer is on it.
page.hover = (selection, lines) => selection
                                       .on('pointermove',
                                           function(datum) {
                                             page.tip.show(d3.event, lines(datum));
                                           })
                                       .on('pointerleave', () => page.tip.hide());

// Draws groups of bars from 0 to `top`. `groups` is a list of names. `series` is a list of {name,
// values: Map of group to value}.
page.bars = function(svg, width, height, options) {
  const {groups, series, top, format} = options;
  const size = {...page.margins(width, height), bottom: options.slant ? 84 : 40};
  const outer =
      d3.scaleBand(groups, [size.left, width - size.right]).paddingInner(0.2).paddingOuter(0.1);
  const inner = d3.scaleBand(d3.range(series.length), [0, outer.bandwidth()]).padding(0.08);
  const y = d3.scaleLinear([0, top], [height - size.bottom, size.top]);
  page.axes(
      svg, size, d3.scaleLinear([0, 1], [size.left, size.left]), y, {x: '', y: options.name},
      {valuesX: [], x: () => '', y: format});
  const labels = svg.append('g')
                     .attr('class', 'axis')
                     .selectAll('text')
                     .data(groups)
                     .join('text')
                     .attr('x', g => outer(g) + outer.bandwidth() / 2)
                     .attr('y', height - size.bottom + 16)
                     .attr('text-anchor', options.slant ? 'end' : 'middle')
                     .text(g => page.words(g).slice(0, 24));
  if (options.slant)
    labels.attr(
        'transform',
        g => `rotate(-32 ${outer(g) + outer.bandwidth() / 2} ${height - size.bottom + 10})`);
  series.forEach((one, i) => {
    const marks = svg.append('g')
                      .selectAll('rect')
                      .data(groups.filter(g => one.values.has(g)))
                      .join('rect')
                      .attr('class', 'f' + (i % 8))
                      .attr('rx', 2)
                      .attr('x', g => outer(g) + inner(i))
                      .attr('width', inner.bandwidth())
                      .attr('y', g => y(Math.min(top, one.values.get(g))))
                      .attr('height', g => y(0) - y(Math.min(top, one.values.get(g))));
    page.hover(marks, g => [`${one.name}, ${page.words(g)}`, options.tell(one, g)]);
    if (inner.bandwidth() > 22) {
      svg.append('g')
          .selectAll('text')
          .data(groups.filter(g => one.values.has(g)))
          .join('text')
          .attr('class', 'fill-soft')
          .attr('text-anchor', 'middle')
          .attr('x', g => outer(g) + inner(i) + inner.bandwidth() / 2)
          .attr('y', g => y(Math.min(top, one.values.get(g))) - 3)
          .text(g => format(one.values.get(g)));
    }
  });
};
