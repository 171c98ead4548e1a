// The box that tells more about the mark under the pointer.

import {element} from './elements.js';

const box = document.getElementById('tip');

function show(event, lines) {
  box.replaceChildren(
      ...lines.filter(Boolean).map((line, i) => element(i === 0 ? 'b' : 'div', {}, line)));
  box.hidden = false;
  const size = box.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, window.innerWidth - size.width - 8);
  const below = event.clientY + 18 + size.height < window.innerHeight;
  const y = below ? event.clientY + 18 : event.clientY - size.height - 12;
  box.style.setProperty('left', Math.max(8, x) + 'px');
  box.style.setProperty('top', Math.max(8, y) + 'px');
}

// Shows the lines of a mark while the pointer is on it.
export function hover(selection, lines) {
  selection.on('pointermove', datum => show(d3.event, lines(datum))).on('pointerleave', () => {
    box.hidden = true;
  });
}
