/**
 * A bare SMTP sink in a process of its own: takes all that has a recipient, keeps nothing, and counts. `GET /` on its second port
 * answers {count, first_ms, last_ms, marked, links}; `DELETE /` starts afresh.
 */
interface State {
  has_recipient: boolean;
  in_data: boolean;
  rest: string;
}

let count = 0;
let first_ms = 0;
let last_ms = 0;
const marked = new Map<string, number>();
/** Tokens of links that clicks are tried with. */
const MAX_LINKS = 200;
let links: string[] = [];

function onMessage(message: string): void {
  const now = performance.timeOrigin + performance.now();
  if (count === 0) first_ms = now;
  count += 1;
  last_ms = now;
  const mark = /^Subject: (mark-\S+)/m.exec(message)?.[1];
  if (mark) marked.set(mark, now);
  const link = /\/c\/([0-9a-z-]{20,})/.exec(message.replaceAll('=\r\n', ''))?.[1];
  if (link) links = [...links.slice(1 - MAX_LINKS), link];
}

const smtp = Bun.listen<State>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { has_recipient: false, in_data: false, rest: '' };
      socket.write('220 sink ESMTP\r\n');
    },
    data(socket, chunk) {
      const state = socket.data;
      state.rest += chunk.toString('latin1');
      let answer = '';
      for (;;) {
        if (state.in_data) {
          const end = state.rest.indexOf('\r\n.\r\n');
          if (end < 0) break;
          onMessage(state.rest.slice(0, end));
          state.rest = state.rest.slice(end + 5);
          state.in_data = false;
          answer += '250 2.0.0 taken\r\n';
          continue;
        }
        const end = state.rest.indexOf('\r\n');
        if (end < 0) break;
        const verb = state.rest.slice(0, 4).toUpperCase();
        state.rest = state.rest.slice(end + 2);
        if (verb === 'EHLO') answer += '250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n';
        else if (verb === 'DATA') {
          answer += state.has_recipient ? '354 go\r\n' : '503 5.5.1 to whom\r\n';
          state.in_data = state.has_recipient;
          state.has_recipient = false;
        } else if (verb === 'RCPT') {
          answer += '250 ok\r\n';
          state.has_recipient = true;
        } else if (verb === 'QUIT') answer += '221 bye\r\n';
        else answer += '250 ok\r\n';
      }
      if (answer) socket.write(answer);
    },
  },
});

const control = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    if (request.method === 'DELETE') {
      count = 0;
      marked.clear();
    }
    return Response.json({ count, first_ms, last_ms, marked: Object.fromEntries(marked), links });
  },
});
process.stdout.write(`http://127.0.0.1:${control.port} smtp ${smtp.port}\n`);
