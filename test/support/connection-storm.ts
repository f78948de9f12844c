/**
 * A program: clients that open a connection for each request, beside one whose connection is kept. For each request of that
 * one it prints how many of theirs were answered meanwhile. Arguments: the port, the number of clients, that of its requests.
 */
import { connect } from 'node:net';

const [port = 0, clients = 0, questions = 0] = process.argv.slice(2).map(Number);
const REQUEST = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n';
let answered = 0;
let is_over = false;

function askOnce(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST));
    socket.on('data', () => {
      answered++;
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
}

async function comeAgainAndAgain(): Promise<void> {
  while (!is_over) await askOnce();
}

const kept = connect(port, '127.0.0.1');
await new Promise((resolve) => kept.once('connect', resolve));
const others = Array.from({ length: clients }, comeAgainAndAgain);
const waited: number[] = [];
while (waited.length < questions) {
  const before = answered;
  const told = new Promise((resolve) => kept.once('data', resolve));
  kept.write(REQUEST);
  await told;
  waited.push(answered - before);
}
is_over = true;
kept.destroy();
await Promise.all(others);
process.stdout.write(JSON.stringify(waited));
