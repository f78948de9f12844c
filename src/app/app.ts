/** All wiring, in one visible list: the platform's parts, nouns, routes and tasks. */

import { Audit } from '../access/audit/service.ts';
import { Keys, keysShownBy } from '../access/keys/service.ts';
import { Origins } from '../access/origins/service.ts';
import { createPeople } from '../access/people/entry.ts';
import type { Argon2 } from '../access/people/passwords.ts';
import { forgetDataKey, LinkDomains, Projects } from '../access/projects/service.ts';
import { TokenExchange } from '../access/tokens/exchange.ts';
import { Tokens } from '../access/tokens/service.ts';
import { TokenTrusts } from '../access/tokens/trusts.ts';
import { Captcha } from '../captcha/service.ts';
import type { Config } from '../config.ts';
import { AppError, messageOf } from '../errors.ts';
import {
  hasObjectIn,
  InternalObjects,
  ObjectBytes,
  ObjectLinks,
  ObjectMoves,
  Objects,
  type Pins,
} from '../files/objects/service.ts';
import { isUnfinishedUpload, Uploads } from '../files/uploads/service.ts';
import { Variants } from '../files/variants/service.ts';
import { STOP_MAILER_DEADLINE_MS, STOP_REQUESTS_DEADLINE_MS } from '../limits.ts';
import { emailsCascade, isPinned } from '../mail/emails/service.ts';
import { createMail, mailTasks } from '../mail/mail.ts';
import { fateOfMail } from '../mail/mailboxes/service.ts';
import { listUnknown } from '../mail/sending-domains/service.ts';
import { createMarketing, marketingCascades, marketingTasks } from '../marketing/marketing.ts';
import { Alerts } from '../operation/alerts/service.ts';
import { BackupSchedule } from '../operation/backups/schedule.ts';
import { Backups, type BackupWork, createBackupTask } from '../operation/backups/service.ts';
import { Doctor } from '../operation/doctor/service.ts';
import { Holds } from '../operation/holds/service.ts';
import { Jobs } from '../operation/jobs/service.ts';
import { Metrics } from '../operation/metrics/service.ts';
import { Overviews } from '../operation/overview/service.ts';
import { Ownership } from '../operation/ownership/service.ts';
import { Search } from '../operation/search/service.ts';
import { Heartbeat, Status } from '../operation/status/service.ts';
import { Transfers } from '../operation/transfers/service.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { S3Store } from '../platform/files/s3-store.ts';
import { BlobStore } from '../platform/files/store.ts';
import { Beside } from '../platform/host/beside.ts';
import { type Clock, monotonicMs } from '../platform/host/clock.ts';
import { EventLoopWatch } from '../platform/host/event-loop.ts';
import type { Finding } from '../platform/host/health-check.ts';
import type { Logger } from '../platform/host/logger.ts';
import { watchWakeFile } from '../platform/host/server-note.ts';
import { createClientIpReader } from '../platform/http/client-ip.ts';
import { Destinations } from '../platform/http/destinations.ts';
import { Idempotency } from '../platform/http/idempotency.ts';
import { DurableRates, RateLimiter } from '../platform/http/rate-limit.ts';
import { RequestMeasures } from '../platform/http/request-measures.ts';
import type { HttpDeps, Route } from '../platform/http/routes.ts';
import { Sender } from '../platform/http/sender.ts';
import { createHttpServer, type HttpServer } from '../platform/http/server.ts';
import { createJobEngine, type JobEngine } from '../platform/jobs/engine.ts';
import { createScheduler, type Scheduler } from '../platform/jobs/scheduler.ts';
import { hastenJob, type NewJob } from '../platform/jobs/store.ts';
import { generateDkimKey } from '../platform/mail/dkim.ts';
import { createResolver, type Resolver } from '../platform/mail/dns.ts';
import { createMailer } from '../platform/mail/mailer.ts';
import { createReportReader } from '../platform/mail/report-reader.ts';
import type { KeyRing } from '../platform/secrets/key-ring.ts';
import { AiAccounts, AiAssignments, providerLinksCascade } from '../secrets/provider-accounts/ai-accounts.ts';
import {
  createDatabaseLinks,
  DatabaseAccounts,
  DatabaseProjects,
} from '../secrets/provider-accounts/databases.ts';
import { Vault, vaultCascade } from '../secrets/vault/service.ts';
import { VaultVersions } from '../secrets/vault/versions.ts';
import { createWebhooks, tellWebhooks } from '../webhooks/webhooks.ts';
import { createCronEntries } from './cron.ts';
import { createPorts, type Ports } from './ports.ts';
import { createRoutes } from './routes.ts';

/** What holds a processor for seconds, and is done beside the server. */
export interface Maintenance extends BackupWork {
  examine(now_ms: number, known: readonly Finding[], is_deep: boolean): Promise<Finding[]>;
  /** SHA-256 of a file in hex. */
  factsOfFile(file: string): Promise<{ sha256: string; is_utf8: boolean }>;
  /** Ends what is under way; it rejects with AppError `unavailable`. */
  stop(): void;
}

/** What an app stands on; the caller opens it and closes it after the app has stopped. */
interface AppDeps {
  clock: Clock;
  logger: Logger;
  database: Database;
  key_ring: KeyRing;
  /** Of a server; a command does such work itself. */
  maintenance?: Maintenance;
  /** Replaces the resolver that the settings describe; for tests. */
  resolver?: Resolver;
  /** Replaces the making of DKIM keys; for tests. */
  generateDkimKey?: typeof generateDkimKey;
  /** Replaces what hashes passwords; for tests. */
  loadArgon2?: () => Promise<Argon2>;
}

export type Services = ReturnType<typeof createServices>;

/** The nouns on their platform. Starts nothing: the command line uses them too, beside a running server. */
export function createServices(config: Config, deps: AppDeps) {
  const platform = createPlatform(config, deps);
  const tenancy = createTenancy(platform);
  return { ...platform, ...tenancy, ...createWork({ ...platform, ...tenancy }) };
}

const notHere = () => Promise.reject(new AppError('internal', 'A server does this, and no command.'));
/** How long the ends of mails may take to be written as the process stops. */
const STOP_RECORD_DEADLINE_MS = 500;

const NO_MAINTENANCE: Maintenance = {
  backUp: notHere,
  verify: notHere,
  examine: notHere,
  factsOfFile: notHere,
  stop: () => {},
};

/** What the nouns need besides the data directory. */
function createPlatform(config: Config, deps: AppDeps) {
  const { clock, database, logger, key_ring } = deps;
  const object_store = config.object_store && new S3Store(config.object_store);
  const event_loop = new EventLoopWatch();
  const resolver = deps.resolver ?? createResolver({ servers: config.dns_servers, clock });
  return {
    config,
    clock,
    database,
    logger,
    key_ring,
    resolver,
    generateDkimKey: deps.generateDkimKey ?? generateDkimKey,
    loadArgon2: deps.loadArgon2,
    limiter: new RateLimiter(clock),
    requests: new RequestMeasures(event_loop),
    event_loop,
    rates: new DurableRates({ database, clock }),
    idempotency: new Idempotency(database, clock),
    mailer: createMailer({
      dns_servers: config.dns_servers,
      onCrash: (message) => logger.error('the mailer thread ended', { error: message }),
    }),
    report_reader: createReportReader(),
    destinations: new Destinations({ config, resolver }),
    sender: new Sender({
      onCrash: (message) => logger.error('the thread that sends to webhooks ended', { error: message }),
    }),
    beside: new Beside(() => new Worker(new URL('./beside.worker.ts', import.meta.url))),
    blobs: new BlobStore(config.data_dir),
    object_store,
    ownership: new Ownership({ config, clock, database, logger, object_store, hasObjectIn }),
    maintenance: deps.maintenance ?? NO_MAINTENANCE,
    /** What takes part in the deletion of a project. */
    cascades: [forgetDataKey(key_ring), vaultCascade, providerLinksCascade],
  };
}

/** Whose everything is, who may ask for it, and what is kept for them. */
function createTenancy(on: ReturnType<typeof createPlatform>) {
  const { database } = on;
  const links = {
    databaseLinks: createDatabaseLinks(database),
    unknownDomains: listUnknown,
    fateOfMail,
    keysOf: keysShownBy(database),
  };
  const projects = new Projects({ ...on, ...links });
  const link_domains = new LinkDomains(on);
  const origins = new Origins(on);
  const keys = new Keys({ ...on, projects, origins });
  const tokens = new Tokens({ ...on, projects });
  const token_trusts = new TokenTrusts({ ...on, projects, tokens });
  const token_exchange = new TokenExchange({ ...on, tokens });
  const people = createPeople({ ...on, projects, tokens });
  const audit = new Audit(on);
  const search = new Search(on);
  const doctor = new Doctor({ ...on, examine: on.maintenance.examine });
  const overviews = new Overviews({ ...on, doctor, projects });
  const vault = new Vault(on);
  const vault_versions = new VaultVersions({ ...on, vault });
  const captcha = new Captcha({ ...on, vault });
  const database_accounts = new DatabaseAccounts(on);
  const database_projects = new DatabaseProjects({ ...on, accounts: database_accounts });
  const ai_accounts = new AiAccounts(on);
  const ai_assignments = new AiAssignments({ ...on, projects, accounts: ai_accounts });
  return {
    projects,
    link_domains,
    origins,
    keys,
    tokens,
    token_trusts,
    token_exchange,
    ...people,
    audit,
    search,
    overviews,
    doctor,
    vault,
    vault_versions,
    captcha,
    database_accounts,
    database_projects,
    ai_accounts,
    ai_assignments,
  };
}

type Tenancy = ReturnType<typeof createPlatform> & ReturnType<typeof createTenancy>;

/** What apps do: they store files and send mail, now and later. */
function createWork(on: Tenancy) {
  const { config, projects, keys, cascades, maintenance } = on;
  const enqueue = (tx: Tx, job: NewJob): string => engine.enqueue(tx, job);
  const hasten = (tx: Tx, job_id: string, run_at: number): void => {
    hastenJob(tx, job_id, run_at);
    engine.wake();
  };
  const pins: Pins = { isPinned: (tx, id) => isPinned(tx, id) || isUnfinishedUpload(tx, id) };
  const bytes = new ObjectBytes({ ...on, pins });
  const variants = new Variants({
    ...on,
    withFiles: (files, work) => bytes.withFiles(files, work),
    listThere: (public_ids) => objects.listThere(public_ids),
  });
  const objects: Objects = new Objects({
    ...on,
    bytes,
    pins,
    variants,
    max_upload_bytes: config.max_upload_bytes,
    public_url: config.public_url,
    allowed_mime_types: config.allowed_mime_types,
  });
  const object_links = new ObjectLinks({
    ...on,
    public_url: config.public_url,
    projectOf: (id) => projects.findById(id),
  });
  const uploads = new Uploads({
    ...on,
    bytes,
    objects,
    projectOf: (id) => projects.findById(id),
    mayUpload: (key_id) => keys.may(key_id, 'upload'),
    factsOfFile: (path) => maintenance.factsOfFile(path),
  });
  const internal_objects = new InternalObjects({ ...on, bytes });
  const given = { ...on, objects, internal_objects, enqueue, hasten };
  const mail = createMail(given);
  on.invitations.mailBy(() => mail.mailboxes.prepareNotice());
  cascades.push(objects.projectCascade(), uploads.projectCascade(), emailsCascade);
  const webhooks = createWebhooks(on);
  const marketing = createMarketing({ ...given, ...mail, ...webhooks });
  tellWebhooks({ ...on, ...mail, ...webhooks, ...marketing, objects });
  cascades.push(...marketingCascades(marketing), webhooks.webhooks.projectCascade());
  // Made here and started by the app: a command enqueues through it, and the running server does the work.
  const backups = new Backups({ ...on, work: on.maintenance, enqueue });
  const engine = createJobEngine({
    ...on,
    mayBegin: (tx, project_id) => projects.isActive(project_id, tx),
    tasks: [...mailTasks(mail), ...marketingTasks({ ...on, ...marketing }), createBackupTask(backups)],
  });
  projects.listen((_tx, { kind }) => {
    if (kind !== 'started') return;
    engine.wake();
    webhooks.webhook_dispatcher.wake();
  });
  const status = new Status({ ...on, data_dir: config.data_dir });
  return {
    ...mail,
    ...marketing,
    ...webhooks,
    objects,
    internal_objects,
    bytes,
    uploads,
    variants,
    object_links,
    object_moves: new ObjectMoves({ ...on, bytes, pins }),
    backups,
    backup_schedule: new BackupSchedule({ ...on, backups }),
    transfers: new Transfers({ ...on, ...mail, ...marketing, bytes, engine }),
    holds: new Holds({ ...on, ...mail, ...marketing, ...webhooks, engine }),
    jobs: new Jobs(on),
    alerts: new Alerts({ ...on, sendNotice: (notice) => mail.mailboxes.sendNotice(notice) }),
    engine,
    status,
    heartbeat: new Heartbeat({ ...on, status }),
    metrics: new Metrics({ ...on, ...mail, ...webhooks, backups }),
  };
}

export interface App {
  services: Services;
  routes: readonly Route[];
  engine: JobEngine;
  scheduler: Scheduler;
  /** Answers a request without a listener. */
  handle(request: Request): Promise<Response>;
  /**
   * Starts background work and the listeners; resolves with the port. What the clock does at a start waits for
   * `start_delay_ms`.
   */
  start(start_delay_ms?: number): Promise<number>;
  isServed(): boolean;
  /** Resolves when requests are served: with `start`, or once there is the first certificate. */
  whenServed(): Promise<void>;
  /** Resolves when what a crash may have left in the file system is gone. */
  whenSwept(): Promise<unknown>;
  /** Lets requests and mails in flight finish, within their deadlines. */
  stop(): Promise<void>;
}

/** What endpoints need to know who asks, told by the services. */
export function httpDepsOf(services: Services): HttpDeps {
  const { config, clock, database, logger } = services;
  return {
    config,
    clock,
    logger,
    limiter: services.limiter,
    requests: services.requests,
    authenticateKey: (credentials) => services.keys.authenticate(credentials),
    authenticateToken: (authorization, ip) => services.tokens.authenticate(authorization, ip),
    authenticateSession: (secret) => services.entry.sessions.authenticate(secret),
    findProject: (caller, ref) => services.projects.requireFor(caller, ref),
    projectAtHost: (name) => services.link_domains.projectAt(name),
    clientIp: createClientIpReader(config.trusted_proxies),
    guarded: (check, work) => database.guarded(check, work),
    settled: () => database.settled(),
    refuseChanges: () => services.ownership.refuseChanges(),
  };
}

/** Where requests come in; mail by SMTP has the same certificate. */
function portsOf(http: HttpServer, on: Services): Ports {
  return createPorts(http, {
    ...on,
    onCertificate: ({ private_key, chain }) => on.submission.use({ key: private_key, cert: chain }),
  });
}

/** Another Satchel has taken over: this one still answers reads, and attempts under way come to their end. */
function fence(services: Services, { scheduler, ports }: { scheduler: Scheduler; ports: Ports }): void {
  services.bytes.stop();
  ports.stopOrders();
  for (const stopped of [
    services.engine.stop(0),
    scheduler.stop(0),
    services.inbox_readers.stop(),
    services.uploads.stop(),
    services.webhook_dispatcher.stop(0),
    services.submission.stop(0),
    services.alerts.stop(0),
  ])
    void stopped;
}

export function createApp(config: Config, deps: AppDeps): App {
  const services = createServices(config, deps);
  const routes = createRoutes(services);
  const { engine, mailer, objects, uploads, inbox_readers, clicks, event_loop } = services;
  const { webhook_dispatcher, sender } = services;
  const scheduler = createScheduler({ entries: createCronEntries(services), ...deps });
  const http = createHttpServer(routes, httpDepsOf(services));
  const ports = portsOf(http, services);
  let wake_file: { close(): void } | null = null;
  let swept: Promise<unknown> = Promise.resolve();
  services.ownership.onFenced(() => fence(services, { scheduler, ports }));
  return {
    services,
    routes,
    engine,
    scheduler,
    handle: (request) => http.handle(request),
    async start(start_delay_ms) {
      services.backups.removeLeftovers();
      await services.imports.goOnSoon();
      await engine.start();
      wake_file = watchWakeFile(config.data_dir, deps.clock.now(), () => {
        engine.wake();
        webhook_dispatcher.wake();
        inbox_readers.refresh();
      });
      services.bytes.start();
      services.variants.start();
      scheduler.start(start_delay_ms);
      for (const part of [clicks, inbox_readers, webhook_dispatcher, services.alerts]) part.start();
      swept = objects
        .sweepOrphans()
        .then(() => services.blobs.makeFolders())
        .catch((error: unknown) => deps.logger.error('sweeping failed', { error: messageOf(error) }));
      await services.submission.start();
      return ports.start();
    },
    isServed: () => ports.isServed(),
    whenServed: () => ports.whenServed(),
    whenSwept: () => swept,
    async stop() {
      wake_file?.close();
      event_loop.stop();
      // No new attempts from here on; those under way go on while the last requests are answered.
      const stop_by_ms = monotonicMs() + STOP_REQUESTS_DEADLINE_MS + STOP_MAILER_DEADLINE_MS;
      const is_drained = engine.stop(stop_by_ms - monotonicMs() + STOP_RECORD_DEADLINE_MS);
      services.maintenance.stop();
      services.bytes.stop();
      const is_left = Promise.all([inbox_readers.stop(), services.alerts.stop(STOP_REQUESTS_DEADLINE_MS)]);
      const is_told = webhook_dispatcher.stop();
      for (const thread of [services.report_reader, services.beside, services.viewer, services.apps])
        thread.stop();
      await uploads.stop();
      const is_handed_in = services.submission.stop(STOP_REQUESTS_DEADLINE_MS);
      await Promise.all([ports.stop(), is_handed_in, scheduler.stop(STOP_REQUESTS_DEADLINE_MS), is_left]);
      services.variants.stop();
      await clicks.stop();
      await mailer.stop(Math.max(stop_by_ms - monotonicMs(), STOP_MAILER_DEADLINE_MS));
      await services.deliveries.sending_now.drain(STOP_RECORD_DEADLINE_MS);
      await is_drained;
      await is_told;
      sender.stop();
    },
  };
}
