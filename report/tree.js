// The search tree. It is drawn once, and can be panned and zoomed. It is one tab stop, and the
// arrow keys move through it.

import {drawWhenSized} from './charts.js';
import {element, hint} from './elements.js';
import {formatRatio} from './figures.js';
import {describe, fillOf, kindNames, kindOf, legend, shapes, symbolOf, symbolPath} from './status.js';
import {hover} from './tip.js';

// Lays the attempts out under the module: {root, all, byNode, crowded, onPath, extent}.
function layOut(run) {
  const nodes = [{node: 0, parent: null, status: 'module', role: 'module'}, ...run.trials];
  const root = d3.stratify().id(t => t.node).parentId(t => (t.node === 0 ? null : t.parent))(nodes);
  const crowded = nodes.length > 150;
  // With many nodes the whole tree gets a fixed area, in which the reader can zoom.
  (crowded ? d3.tree().size([620, 1000]) : d3.tree().nodeSize([62, 92]))(root);
  const all = root.descendants();
  const path = new Set(run.bestPath);
  return {
    root,
    all,
    crowded,
    byNode: new Map(all.map(each => [each.data.node, each])),
    onPath: each => path.has(each.data.node),
    extent: {x: d3.extent(all, d => d.y), y: d3.extent(all, d => d.x)}
  };
}

function drawLinks(scene, layout) {
  const curve = d3.linkHorizontal().x(d => d.y).y(d => d.x);
  const isPath = link => layout.onPath(link.target);
  const links = layout.root.links();
  scene.append('path')
      .attr('class', 'link')
      .attr('d', links.filter(l => !isPath(l)).map(l => curve(l)).join(''));
  scene.append('path')
      .attr('class', 'link path')
      .attr('d', links.filter(isPath).map(l => curve(l)).join(''));
}

function drawLabels(marks) {
  marks.append('text')
      .attr('text-anchor', 'middle')
      .attr('y', -13)
      .text(d => (d.data.node === 0 ? 'module' : d.data.node));
  marks.append('text')
      .attr('class', 'fill-soft')
      .attr('text-anchor', 'middle')
      .attr('y', 24)
      .text(d => (d.data.eager ? formatRatio(d.data.eager[0]) : ''));
}

function drawMarks(scene, layout) {
  const marks = scene.selectAll('g.node')
                    .data(layout.all)
                    .join('g')
                    .attr('class', 'node')
                    .attr('id', d => 'node-' + d.data.node)
                    .attr('role', 'treeitem')
                    .attr('aria-level', d => d.depth + 1)
                    .attr('aria-label', d => describe(d.data).join(', '))
                    .attr('transform', d => `translate(${d.y},${d.x})`);
  const shape = trial =>
      (trial.node === 0 ? symbolPath('square', 130) : symbolOf(trial, layout.crowded ? 26 : 110));
  marks.append('path')
      .attr('class', d => 'dot ' + (d.data.node === 0 ? 'fill-ink' : fillOf(d.data)))
      .attr('d', d => shape(d.data));
  if (!layout.crowded) drawLabels(marks);
  return marks;
}

// The wheel alone scrolls the page, so zooming needs Ctrl or two fingers.
function meansZoom(event) {
  if (event.type === 'wheel') return event.ctrlKey;
  if (event.type === 'touchstart') return event.touches.length > 1;
  return event.type !== 'dblclick' && !event.button;
}

// Moves and scales the scene inside `box`: {by(factor), fit(), reveal(place)}.
function makeView(run, layout, svg, scene, box) {
  const {crowded, extent} = layout;
  const zoom = d3.zoom()
                   .scaleExtent([0.1, crowded ? 24 : 4])
                   .on('zoom', () => scene.attr('transform', d3.event.transform))
                   .filter(() => meansZoom(d3.event));
  svg.call(zoom);
  const fit = () => {
    const width = box.clientWidth;
    const spanX = extent.x[1] - extent.x[0] + 80, spanY = extent.y[1] - extent.y[0] + 90;
    const highest = window.innerWidth < 560 ? 340 : 460;
    const fitting = Math.min(1.15, width / spanX, highest / spanY);
    const scale = crowded ? fitting : Math.max(fitting, 0.62);  // labels must be readable
    const height = Math.max(150, Math.min(highest, spanY * scale));
    svg.node().style.setProperty('height', height + 'px');
    svg.attr('width', width);
    const chosen = layout.byNode.get(run.selected === null ? run.best || 0 : run.selected);
    const [middleX, middleY] =
        scale > fitting ? [chosen.y, chosen.x] : [d3.mean(extent.x), d3.mean(extent.y)];
    const [x, y] = [width / 2 - middleX * scale, height / 2 - middleY * scale];
    svg.call(zoom.transform, d3.zoomIdentity.translate(x, y).scale(scale));
  };
  // Moves the chosen attempt back into view when the keyboard has moved it out of sight.
  const reveal = at => {
    const [x, y] = d3.zoomTransform(svg.node()).apply([at.y, at.x]);
    const width = box.clientWidth, height = box.clientHeight;
    if (x < 20 || x > width - 20 || y < 20 || y > height - 20)
      svg.call(zoom.translateTo, at.y, at.x);
  };
  return {fit, reveal, by: factor => svg.call(zoom.scaleBy, factor)};
}

function walkWithKeys(run, layout, box) {
  const {all, byNode, onPath, root} = layout;
  const beside = (at, step) => {
    const level = all.filter(each => each.depth === at.depth).sort((a, b) => a.x - b.x);
    return level[level.indexOf(at) + step];
  };
  const moves = {
    ArrowLeft: at => at.parent,
    ArrowRight: at => at.children && (at.children.find(onPath) || at.children[0]),
    ArrowUp: at => beside(at, -1),
    ArrowDown: at => beside(at, 1),
    Home: () => root,
    End: () => byNode.get(run.best) || all[all.length - 1],
  };
  box.addEventListener('keydown', event => {
    const move = moves[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = move(byNode.get(run.selected));
    if (to) run.select(to.data.node);
  });
}

// Keeps the ring, and what a screen reader is told, at the selected attempt.
function followSelection(run, layout, scene, box, view) {
  const ring = scene.select('.ring');
  run.onSelect.push(node => {
    const at = layout.byNode.get(node);
    ring.attr('cx', at.y).attr('cy', at.x);
    box.setAttribute('aria-activedescendant', 'node-' + node);
    scene.selectAll('[aria-selected]').attr('aria-selected', null);
    scene.select('#node-' + node).attr('aria-selected', 'true');
    if (box.clientWidth > 0) view.reveal(at);
  });
}

function treeTools(run, view) {
  const press = (name, label, action) =>
      element('button', {type: 'button', 'aria-label': label, onclick: action}, name);
  return element(
      'div', {class: 'tools'}, press('+', 'Zoom in', () => view.by(1.5)),
      press('−', 'Zoom out', () => view.by(1 / 1.5)), press('fit', 'Show the whole tree', view.fit),
      press('best', 'Go to the best attempt', () => run.best && run.select(run.best)));
}

function treeLegend(run) {
  const shown = Object.keys(kindNames).filter(
      kind => run.trials.some(trial => kindOf(trial.status) === kind));
  return legend([
    ...(run.best ? [['star', 'fill-star', 'the best']] : []),
    ...shown.map(kind => [shapes[kind], 'fill-' + kind, kindNames[kind]])
  ]);
}

export function searchTree(run) {
  const layout = layOut(run);
  const svg = d3.create('svg').attr('aria-hidden', null);
  const scene = svg.append('g');
  drawLinks(scene, layout);
  scene.append('circle').attr('class', 'ring').attr('r', 13);
  const marks = drawMarks(scene, layout);
  const label = 'Search tree. Arrow keys move between attempts.';
  const box =
      element('div', {class: 'tree', tabindex: 0, role: 'tree', 'aria-label': label}, svg.node());
  const view = makeView(run, layout, svg, scene, box);
  drawWhenSized(box, view.fit);
  walkWithKeys(run, layout, box);
  marks.on('click', d => run.select(d.data.node));
  hover(marks, d => describe(d.data));
  followSelection(run, layout, scene, box, view);
  return [
    treeTools(run, view), box, treeLegend(run),
    hint(
        'Click an attempt, or walk with the arrow keys (End: the best). Drag to move; Ctrl and the wheel, or two fingers, to zoom.')
  ];
}
