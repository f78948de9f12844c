/** A connection's middle man, for tests: passes on what a client and a server say until it is told to keep it, or to say something else. */
import { connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  port: number;
  /** Connections so far. */
  connections: number;
  /** What the client says that matches is kept, and nothing else passes on that connection from then on. */
  hold: RegExp | null;
  /** What the server gets to say in place of its answer to what is held. */
  answer: Buffer | null;
  /** How often something was held. */
  held: number;
  /** Ends every connection. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startTcpProxy(target_port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    proxy.connections += 1;
    const upstream = connect(target_port, '127.0.0.1');
    let is_held = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        // What the server said last still gets to the client.
        client.end();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (!is_held && proxy.hold?.test(chunk.toString('latin1'))) {
        is_held = true;
        proxy.held += 1;
        if (proxy.answer) client.write(proxy.answer);
      }
      if (!is_held) upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!is_held) client.write(chunk);
    });
  });
  const proxy: TcpProxy = {
    port: 0,
    connections: 0,
    hold: null,
    answer: null,
    held: 0,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      proxy.cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  proxy.port = typeof address === 'object' && address ? address.port : 0;
  return proxy;
}
