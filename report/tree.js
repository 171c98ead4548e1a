// The search tree. It is drawn once, and can be panned and zoomed. It is one tab stop, and the
// arrow keys move through it.
'use strict';

page.shapes = {
  good: 'circle',
  build: 'square',
  wrong: 'diamond',
  crash: 'cross',
  idle: 'triangle'
};
page.symbolOf = (trial, area = 110) => page.symbol(
    trial.isBest ? 'star' : page.shapes[page.kind(trial.status)], trial.isBest ? 220 : area);
page.symbolPaths = new Map();  // thousands of marks share a few shapes
page.symbol = function(shape, area) {
  const key = shape + area;
  if (!page.symbolPaths.has(key))
    page.symbolPaths.set(key, d3.symbol().type(page.symbols[shape]).size(area)());
  return page.symbolPaths.get(key);
};
page.fillOf = trial => 'fill-' + (trial.isBest ? 'star' : page.kind(trial.status));

page.describe = function(trial) {
  if (trial.node === 0) return ['the PyTorch module'];
  const lines =
      [`attempt ${trial.node}: ${page.words(trial.status)}${trial.isBest ? ', the best' : ''}`];
  if (trial.eager) lines.push(page.speedup(trial.eager) + ' against eager');
  lines.push(`${trial.role} of ${trial.parent === 0 ? 'the module' : 'attempt ' + trial.parent}`);
  if (trial.bottleneck) lines.push('bottleneck: ' + page.words(trial.bottleneck));
  if (trial.note) lines.push(trial.note);
  return lines;
};

page.searchTree = function(run) {
  const nodes = [{node: 0, parent: null, status: 'module', role: 'module'}, ...run.trials];
  const root = d3.stratify().id(t => t.node).parentId(t => (t.node === 0 ? null : t.parent))(nodes);
  const crowded = nodes.length > 150;
  // With many nodes the whole tree gets a fixed area, in which the reader can zoom.
  (crowded ? d3.tree().size([620, 1000]) : d3.tree().nodeSize([62, 92]))(root);
  const all = root.descendants();
  const byNode = new Map(all.map(each => [each.data.node, each]));
  const path = new Set(run.bestPath);

  const svg = d3.create('svg').attr('aria-hidden', null);
  const scene = svg.append('g');
  const curve = d3.linkHorizontal().x(d => d.y).y(d => d.x);
  const links = root.links();
  const isPath = link => path.has(link.target.data.node);
  scene.append('path')
      .attr('class', 'link')
      .attr('d', links.filter(l => !isPath(l)).map(l => curve(l)).join(''));
  scene.append('path')
      .attr('class', 'link path')
      .attr('d', links.filter(isPath).map(l => curve(l)).join(''));
  const ring = scene.append('circle').attr('class', 'ring').attr('r', 13);
  const marks = scene.selectAll('g.node')
                    .data(all)
                    .join('g')
                    .attr('class', 'node')
                    .attr('id', d => 'node-' + d.data.node)
                    .attr('role', 'treeitem')
                    .attr('aria-level', d => d.depth + 1)
                    .attr('aria-label', d => page.describe(d.data).join(', '))
                    .attr('transform', d => `translate(${d.y},${d.x})`);
  marks.append('path')
      .attr('class', d => 'dot ' + (d.data.node === 0 ? 'fill-ink' : page.fillOf(d.data)))
      .attr(
          'd',
          d =>
              (d.data.node === 0 ? page.symbol('square', 130) :
                                   page.symbolOf(d.data, crowded ? 26 : 110)));
  if (!crowded) {
    marks.append('text')
        .attr('text-anchor', 'middle')
        .attr('y', -13)
        .text(d => (d.data.node === 0 ? 'module' : d.data.node));
    marks.append('text')
        .attr('class', 'fill-soft')
        .attr('text-anchor', 'middle')
        .attr('y', 24)
        .text(d => (d.data.eager ? page.ratio(d.data.eager[0]) : ''));
  }

  const box = page.element(
      'div', {
        class: 'tree',
        tabindex: 0,
        role: 'tree',
        'aria-label': 'Search tree. Arrow keys move between attempts.'
      },
      svg.node());
  const extent = {x: d3.extent(all, d => d.y), y: d3.extent(all, d => d.x)};
  const zoom = d3.zoom()
                   .scaleExtent([0.1, crowded ? 24 : 4])
                   .on('zoom', () => scene.attr('transform', d3.event.transform))
                   .filter(() => {
                     const event = d3.event;
                     if (event.type === 'wheel') return event.ctrlKey;
                     if (event.type === 'touchstart') return event.touches.length > 1;
                     return event.type !== 'dblclick' && !event.button;
                   });
  svg.call(zoom);

  function fit() {
    const width = box.clientWidth;
    const spanX = extent.x[1] - extent.x[0] + 80, spanY = extent.y[1] - extent.y[0] + 90;
    const highest = window.innerWidth < 560 ? 340 : 460;
    const fitting = Math.min(1.15, width / spanX, highest / spanY);
    const scale = crowded ? fitting : Math.max(fitting, 0.62);  // labels must be readable
    const height = Math.max(150, Math.min(highest, spanY * scale));
    svg.node().style.setProperty('height', height + 'px');
    svg.attr('width', width);
    const chosen = byNode.get(run.selected === null ? run.best || 0 : run.selected);
    const [middleX, middleY] =
        scale > fitting ? [chosen.y, chosen.x] : [d3.mean(extent.x), d3.mean(extent.y)];
    svg.call(
        zoom.transform,
        d3.zoomIdentity.translate(width / 2 - middleX * scale, height / 2 - middleY * scale)
            .scale(scale));
  }
  page.drawings.push({
    figure: box,
    redraw: (() => {
      let last = 0;
      return () => {
        if (box.clientWidth !== last) {
          last = box.clientWidth;
          fit();
        }
      };
    })()
  });

  // Moves the chosen attempt back into view when the keyboard has moved it out of sight.
  function reveal(at) {
    const now = d3.zoomTransform(svg.node());
    const [x, y] = now.apply([at.y, at.x]);
    const width = box.clientWidth, height = box.clientHeight;
    if (x < 20 || x > width - 20 || y < 20 || y > height - 20)
      svg.call(zoom.translateTo, at.y, at.x);
  }
  const beside = (at, step) => {
    const level = all.filter(each => each.depth === at.depth).sort((a, b) => a.x - b.x);
    return level[level.indexOf(at) + step];
  };
  const moves = {
    ArrowLeft: at => at.parent,
    ArrowRight: at => at.children && (at.children.find(isOnPath) || at.children[0]),
    ArrowUp: at => beside(at, -1),
    ArrowDown: at => beside(at, 1),
    Home: () => root,
    End: () => byNode.get(run.best) || all[all.length - 1],
  };
  const isOnPath = each => path.has(each.data.node);
  box.addEventListener('keydown', event => {
    const move = moves[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = move(byNode.get(run.selected));
    if (to) run.select(to.data.node);
  });
  marks.on('click', d => run.select(d.data.node));
  page.hover(marks, d => page.describe(d.data));
  run.onSelect.push(node => {
    const at = byNode.get(node);
    ring.attr('cx', at.y).attr('cy', at.x);
    box.setAttribute('aria-activedescendant', 'node-' + node);
    scene.selectAll('[aria-selected]').attr('aria-selected', null);
    scene.select('#node-' + node).attr('aria-selected', 'true');
    if (box.clientWidth > 0) reveal(at);
  });

  const press = (name, label, action) =>
      page.element('button', {type: 'button', 'aria-label': label, onclick: action}, name);
  const kinds = Object.keys(page.kindNames)
                    .filter(kind => run.trials.some(t => page.kind(t.status) === kind));
  const legend = page.legend([
    ...(run.best ? [['star', 'fill-star', 'the best']] : []),
    ...kinds.map(kind => [page.shapes[kind], 'fill-' + kind, page.kindNames[kind]])
  ]);
  return [
    page.element(
        'div', {class: 'tools'}, press('+', 'Zoom in', () => svg.call(zoom.scaleBy, 1.5)),
        press('−', 'Zoom out', () => svg.call(zoom.scaleBy, 1 / 1.5)),
        press('fit', 'Show the whole tree', fit),
        press('best', 'Go to the best attempt', () => run.best && run.select(run.best))),
    box, legend,
    page.hint(
        'Click an attempt, or walk with the arrow keys (End: the best). Drag to move; Ctrl and the wheel, or two fingers, to zoom.')
  ];
};
