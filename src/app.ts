/** All wiring, in one visible list: the platform's parts, the capabilities on them, their routes, tasks and cron entries. */
import { auditRoutes } from './audit/routes.ts';
import { Audit } from './audit/service.ts';
import type { Config } from './config.ts';
import { docsRoutes } from './docs/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { Keys } from './keys/service.ts';
import { STOP_MAILER_DEADLINE_MS } from './limits.ts';
import { createClientIpReader } from './platform/client-ip.ts';
import type { Clock } from './platform/clock.ts';
import type { Database } from './platform/database.ts';
import { createResolver, type Resolver } from './platform/dns.ts';
import type { Route } from './platform/http.ts';
import { createHttpServer, type HttpServer } from './platform/http-server.ts';
import { Idempotency } from './platform/idempotency.ts';
import type { KeyRing } from './platform/key-ring.ts';
import type { Logger } from './platform/logger.ts';
import { RateLimiter } from './platform/rate-limit.ts';
import { watchWakeFile } from './platform/wake-file.ts';
import { createJobEngine, type JobEngine } from './platform/worker.ts';
import { projectRoutes } from './projects/routes.ts';
import { forgetDataKey, type ProjectCascade, Projects } from './projects/service.ts';
import { statusRoutes } from './status/routes.ts';
import { Status } from './status/service.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { Tokens } from './tokens/service.ts';

/** What an app stands on; the caller opens it and closes it after the app has stopped. */
export interface AppDeps {
  clock: Clock;
  logger: Logger;
  database: Database;
  key_ring: KeyRing;
  /** Replaces the resolver that the settings describe; for tests. */
  resolver?: Resolver;
}

export type Services = ReturnType<typeof createServices>;

/** The capabilities on their platform. Starts nothing: the command line uses them too, beside a running server. */
export function createServices(config: Config, deps: AppDeps) {
  const { clock, database, logger, key_ring } = deps;
  const resolver = deps.resolver ?? createResolver({ servers: config.dns_servers });
  const limiter = new RateLimiter(clock);
  const idempotency = new Idempotency(database, clock);
  const cascades: ProjectCascade[] = [forgetDataKey(key_ring)];
  const projects = new Projects({ database, clock, cascades });
  const keys = new Keys({ database, clock, projects, key_ring });
  const tokens = new Tokens({ database, clock, projects });
  const audit = new Audit({ database });
  const status = new Status({ database, clock, data_dir: config.data_dir });
  return {
    config,
    clock,
    database,
    logger,
    resolver,
    limiter,
    idempotency,
    projects,
    keys,
    tokens,
    audit,
    status,
  };
}

/** Every route of Satchel. */
export function createRoutes(services: Services): Route[] {
  const routes: Route[] = [
    ...projectRoutes(services),
    ...keyRoutes(services),
    ...tokenRoutes(services.tokens),
    ...auditRoutes(services),
    ...statusRoutes(services.status, services.config),
    ...docsRoutes(() => routes, services.config),
  ];
  return routes;
}

export interface App {
  services: Services;
  engine: JobEngine;
  /** Answers a request without a listener. */
  handle(request: Request): Promise<Response>;
  /** Starts background work and the listener; resolves with the port. */
  start(): Promise<number>;
  /** Lets requests and mails in flight finish, within their deadlines. */
  stop(): Promise<void>;
}

export function createApp(config: Config, deps: AppDeps): App {
  const services = createServices(config, deps);
  const routes = createRoutes(services);
  const engine = createJobEngine({ ...deps, tasks: [] });
  const http: HttpServer = createHttpServer(routes, {
    config,
    clock: deps.clock,
    logger: deps.logger,
    limiter: services.limiter,
    authenticateKey: (credentials) => services.keys.authenticate(credentials),
    authenticateToken: (authorization, ip) => services.tokens.authenticate(authorization, ip),
    clientIp: createClientIpReader(config.trusted_proxies),
  });
  let wake_file: { close(): void } | null = null;
  return {
    services,
    engine,
    handle: (request) => http.handle(request),
    async start() {
      await engine.start();
      wake_file = watchWakeFile(config.data_dir, deps.clock.now(), () => engine.wake());
      return http.listen();
    },
    async stop() {
      wake_file?.close();
      await http.stop();
      await engine.stop(STOP_MAILER_DEADLINE_MS);
    },
  };
}
