// Tables that can be sorted.

import {element} from './elements.js';

// Makes a table. `columns` is a list of {title, value(row) -> text or node, number, order(row)}. A
// column with `order` is sorted by a click on its title.
export function makeTable(columns, rows, options = {}) {
  const body = element('tbody');
  let shown = rows.slice();
  let room = options.room || Infinity;
  const more = element('button', {
    type: 'button',
    class: 'more',
    onclick: () => {
      room = Infinity;
      fill();
    }
  });
  function fill() {
    body.replaceChildren(...shown.slice(0, room).map(row => {
      const line = element(
          'tr', options.attributes ? options.attributes(row) : {},
          columns.map(c => element('td', {class: c.number ? 'number' : null}, c.value(row))));
      return line;
    }));
    more.hidden = shown.length <= room;
    more.textContent = `show all ${shown.length} rows`;
  }
  function sortBy(column, heading) {
    const falling = heading.getAttribute('aria-sort') === 'ascending';
    for (const other of heading.parentElement.children) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    const key = row => column.order(row);
    shown.sort((a, b) => (falling ? d3.descending : d3.ascending)(key(a), key(b)));
    fill();
  }
  const heads = columns.map(column => {
    const heading = element('th', {scope: 'col', class: column.number ? 'number' : null});
    heading.append(
        column.order ?
            element(
                'button', {type: 'button', onclick: () => sortBy(column, heading)}, column.title) :
            column.title);
    return heading;
  });
  fill();
  const table = element('table', {}, element('thead', {}, element('tr', {}, heads)), body);
  const box = element(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': options.label || 'table'},
      table);
  const whole = element('div', {class: 'table'}, box, more);
  whole.body = body;
  whole.use = next => {
    shown = next.slice();
    fill();
  };
  return whole;
}
