/** Listens on a port: opens it once, once more for another certificate, and stops in order. */
import type { Server, TCPSocketListener } from 'bun';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import { HTTP_IDLE_TIMEOUT_S, STOP_REQUESTS_DEADLINE_MS } from '../../limits.ts';
import { type Peer, Turns } from '../host/turns.ts';
import { until } from '../host/waiting.ts';

/** Beyond it Bun answers an empty 413 before any handler. The contract wants 422: above every limit. */
const MAX_REQUEST_BODY_BYTES = 2 ** 50;
/** What closing the connections that are left may take. */
const STOP_CONNECTIONS_DEADLINE_MS = 500;
/** By then each connection had its last answer or idled out. Bun looks at idle ones each four seconds. */
const DRAIN_MS = (HTTP_IDLE_TIMEOUT_S + 10) * 1_000;

export type BunServer = Server<undefined>;

/** In PEM. */
export interface TlsIdentity {
  readonly private_key: string;
  /** The certificate, and those that lead to its authority's. */
  readonly chain: string;
}

interface ListenerOptions {
  host: string;
  /** 0: the system chooses one, which is kept. */
  port: number;
  /** The settings that name another port, to go behind a complaint. */
  settings: string;
  fetch(request: Request, peer: Peer | null, server: BunServer): Response | Promise<Response>;
  error?(error: Error): Response;
}

export class Listener {
  readonly #options: ListenerOptions;
  readonly #turns = new Turns();
  #port: number;
  /** Keeps the port from others until there is something to serve on it. */
  #holder: TCPSocketListener | null = null;
  /** The last one goes on; those before it are on their way out. */
  #servers: BunServer[] = [];

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#port = options.port;
  }

  /**
   * Takes the port without serving on it, and hangs up on who connects. Returns the port. Throws AppError
   * `conflict`, as `listen` does, where it is not free.
   */
  hold(): number {
    const socket = { open: (opened: { end(): void }) => opened.end(), data() {} };
    this.#holder = this.#claim(() => Bun.listen({ hostname: this.#options.host, port: this.#port, socket }));
    this.#port = this.#holder.port;
    return this.#port;
  }

  /** Serves plain http; returns the port. A second server on it fails at its start, and shares nothing. */
  listen(): number {
    return this.#serve({ reusePort: false });
  }

  /**
   * Serves https; returns the port. Called again, a second listener takes the port beside the first. The
   * first lets each connection go with its next answer, as Bun would cut those that are kept alive, and then
   * stops.
   */
  listenTls({ private_key: key, chain: cert }: TlsIdentity): number {
    // A port that may be shared is shared with anybody who asks likewise. Holding it tells whether it is
    // free.
    if (this.#servers.length === 0 && !this.#holder) this.hold();
    this.#holder?.stop(true);
    this.#holder = null;
    const former = this.#servers.at(-1);
    const port = this.#serve({ reusePort: true, tls: { key, cert } });
    if (former) setTimeout(() => this.#retire(former), DRAIN_MS).unref();
    return port;
  }

  /** Takes no new connections, lets requests finish within the deadline, then closes the rest. */
  async stop(): Promise<void> {
    this.#holder?.stop(true);
    const servers = this.#servers;
    // Not awaited: it resolves only when idle keep-alive connections are gone too, and those hold nothing.
    for (const server of servers) void server.stop(false);
    const isIdle = (): boolean => servers.every(({ pendingRequests }) => pendingRequests === 0);
    await until(isIdle, STOP_REQUESTS_DEADLINE_MS);
    const closed = Promise.all(servers.map((server) => server.stop(true)));
    await Promise.race([closed, Bun.sleep(STOP_CONNECTIONS_DEADLINE_MS)]);
  }

  #serve(options: { reusePort: boolean; tls?: { key: string; cert: string } }): number {
    const { host, error } = this.#options;
    const server = this.#claim(() =>
      Bun.serve({
        ...options,
        hostname: host,
        port: this.#port,
        idleTimeout: HTTP_IDLE_TIMEOUT_S,
        maxRequestBodySize: MAX_REQUEST_BODY_BYTES,
        development: false,
        fetch: (request, by) => this.#take(request, by),
        ...(error ? { error } : {}),
      }),
    );
    this.#servers.push(server);
    this.#port = server.port ?? this.#port;
    return this.#port;
  }

  #take(request: Request, by: BunServer): Response | Promise<Response> {
    const peer = by.requestIP(request);
    return this.#turns.take(peer, async (is_last) => {
      const response = await this.#options.fetch(request, peer, by);
      // A listener on its way out has each connection end with its answer, too.
      if (is_last || by !== this.#servers.at(-1)) response.headers.set('Connection', 'close');
      return response;
    });
  }

  #retire(server: BunServer): void {
    void server.stop(false).then(() => {
      this.#servers = this.#servers.filter((other) => other !== server);
    });
  }

  #claim<T>(open: () => T): T {
    try {
      return open();
    } catch (error) {
      const { host, settings } = this.#options;
      throw new AppError(
        'conflict',
        `Cannot listen on ${host} port ${this.#port}: ${whyNot(error)} ${settings}`,
      );
    }
  }
}

function whyNot(error: unknown): string {
  switch (errorCodeOf(error)) {
    case 'EADDRINUSE':
      return 'another process has it.';
    case 'EACCES':
      return (
        'only root may, or who has the capability CAP_NET_BIND_SERVICE, as the systemd unit that install.sh ' +
        `installs gives it; elsewhere: setcap cap_net_bind_service=+ep ${process.execPath}.`
      );
    default:
      return messageOf(error);
  }
}
