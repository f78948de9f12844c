/** The ports where requests come in: one port, or with built-in TLS two, with https once there is a certificate. */
import type { Config } from '../config.ts';
import { createPlainPort } from '../operation/certificates/plain-port.ts';
import { Certificates } from '../operation/certificates/service.ts';
import type { Clock } from '../platform/host/clock.ts';
import type { Logger } from '../platform/host/logger.ts';
import type { TlsIdentity } from '../platform/http/listener.ts';
import type { HttpServer } from '../platform/http/server.ts';

export interface Ports {
  /** Takes its ports and begins to serve. Returns the port. Throws AppError `conflict` for a taken one. */
  start(): number;
  isServed(): boolean;
  /** Resolves when requests are served. */
  whenServed(): Promise<void>;
  /** Orders no certificate any more. */
  stopOrders(): void;
  /** Takes nothing new, and lets requests in flight finish within their deadline. */
  stop(): Promise<unknown>;
}

interface PortsDeps {
  config: Config;
  clock: Clock;
  logger: Logger;
  /** What else is served with the certificate. */
  onCertificate(identity: TlsIdentity): void;
}

export function createPorts(http: HttpServer, on: PortsDeps): Ports {
  const served = Promise.withResolvers<void>();
  let is_served = false;
  const serve = (identity?: TlsIdentity): number => {
    const port = http.listen(identity);
    if (identity) on.onCertificate(identity);
    is_served = true;
    served.resolve();
    return port;
  };
  const common = { isServed: () => is_served, whenServed: () => served.promise };
  const { tls, host, port: https_port, public_url } = on.config;
  if (!tls) return { ...common, start: serve, stopOrders: () => {}, stop: () => http.stop() };
  const certificates = new Certificates({ ...on, tls, serve });
  const plain = createPlainPort({
    host,
    port: tls.http_port,
    names: tls.names,
    public_url,
    https_port,
    challenges: certificates.challenges,
    explainWaiting: () => certificates.explainWaiting(),
  });
  return {
    ...common,
    start() {
      const port = http.hold();
      plain.listen();
      certificates.start();
      return port;
    },
    stopOrders: () => certificates.stop(),
    stop() {
      certificates.stop();
      return Promise.all([http.stop(), plain.stop()]);
    },
  };
}
