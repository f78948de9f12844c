import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { ownThread } from '../../../src/platform/host/thread-priority.ts';

const PRIORITY = join(import.meta.dir, '../../../src/platform/host/thread-priority.ts');

/** In a process of its own: a thread's priority can be lowered by anybody, and raised again by root alone. */
async function prioritiesOf(script: string): Promise<unknown> {
  const worker = `
    const { ownThread } = await import(${JSON.stringify(PRIORITY)});
    self.onmessage = () => {};
    postMessage(ownThread());`;
  const main = `
    const { getPriority } = await import('node:os');
    const { exemptThread, ownThread, yieldToEventLoop } = await import(${JSON.stringify(PRIORITY)});
    const startThread = () => new Promise((resolve) => {
      const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(worker)}])));
      worker.onmessage = ({ data }) => resolve(data);
    });
    const [usual, favoured] = [await startThread(), await startThread()];
    const before = getPriority(favoured);
    ${script}
    const named = (thread) => getPriority(thread) === 19 ? 'last' : getPriority(thread) === before ? 'as before' : 'else';
    console.log(JSON.stringify([ownThread(), usual, favoured].map(named)));
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, '-e', main], { stdout: 'pipe', stderr: 'inherit' });
  return JSON.parse(await new Response(child.stdout).text());
}

test.if(process.platform === 'linux')(
  'the event loop knows its thread, which has the number of the process',
  () => {
    expect(ownThread()).toBe(process.pid);
  },
);

test.if(process.platform === 'linux')(
  'all threads stand back but the event loop and the exempt, for as long as they are',
  async () => {
    expect(await prioritiesOf('exemptThread(favoured); yieldToEventLoop();')).toEqual([
      'as before',
      'last',
      'as before',
    ]);
    expect(await prioritiesOf('exemptThread(favoured)(); yieldToEventLoop();')).toEqual([
      'as before',
      'last',
      'last',
    ]);
  },
);
