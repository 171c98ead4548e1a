// Draws the page. The performance mark "drawn" records how long that took.

import {benchPage} from './bench.js';
import {drawAll} from './charts.js';
import {data} from './data.js';
import {element} from './elements.js';
import {modelPage} from './model.js';
import {runPage} from './run.js';
import {theme} from './theme.js';

async function draw() {
  const main = document.getElementById('main');
  theme.start();
  const pages = {run: runPage, bench: benchPage, model: modelPage};
  const {content, start} = pages[data.kind]();
  main.append(...content.flat(Infinity).filter(Boolean));
  const sections = document.getElementById('sections');
  for (const part of main.querySelectorAll('section[id]'))
    sections.append(element('a', {href: '#' + part.id}, part.dataset.title));
  drawAll();
  if (start) await start();
  const note = () => {
    performance.mark('drawn');
    document.documentElement.dataset.drawn = 'yes';
  };
  requestAnimationFrame(() => setTimeout(note));  // after the frame is on the screen
}

draw();
