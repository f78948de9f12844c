/**
 * Link domains: a project's own host name, in links of its mails and its public pages once it is known to
 * lead to this Satchel.
 */

import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Config } from '../../config.ts';
import { AppError, conflict, invalid, messageOf } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { aside, type HealthCheck, ok, warning } from '../../platform/host/health-check.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { Destinations, hostOf } from '../../platform/http/destinations.ts';
import { isLoopback, isUntrusted, TRUST_REMEDY } from '../../platform/http/hosts.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import type { Resolver } from '../../platform/mail/dns.ts';
import { InstallationKey } from '../../platform/secrets/installation-key.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import * as store from './store.ts';
import type { ProjectRow } from './tables.ts';

/** Where a link domain tells whose it is. */
export const PROOF_PATH = '/.well-known/satchel';
/** Whoever sets a name waits for it. */
const LINK_DOMAIN_CHECK_MS = 10_000;
/** A proof is 64 characters; whatever is longer is none. */
const MAX_ANSWER_BYTES = 1024;

export interface LinkDomainsDeps {
  config: Pick<Config, 'public_url' | 'webhook_allow' | 'dns_servers'>;
  database: Database;
  logger: Logger;
  resolver: Pick<Resolver, 'lookupAddresses'>;
  key_ring: Pick<KeyRing, 'seal' | 'open'>;
}

export class LinkDomains {
  readonly #key: InstallationKey;
  readonly #public_host: string;

  constructor(private readonly deps: LinkDomainsDeps) {
    this.#key = new InstallationKey(deps.key_ring, 'link_domain_key');
    this.#public_host = hostOf(new URL(deps.config.public_url));
  }

  /** The address that links of a project begin with: its link domain while that is active, else the public URL. */
  baseOf(project_id: number, read: Tx = this.deps.database.read): string {
    const name = store.findActiveLinkDomain(read, project_id);
    return name === null ? this.deps.config.public_url : this.#urlOf(name);
  }

  /** The id of the project with this link domain, or null. `host` is as requests name it, without a port. */
  projectAt(host: string): number | null {
    const name = host.toLowerCase().replace(/\.$/, '');
    // Nearly all requests: no look-up for these.
    if (name === this.#public_host || !name.includes('.') || isIP(name) !== 0) return null;
    return store.findProjectAtLinkDomain(this.deps.database.read, name);
  }

  /** What only this Satchel answers for a project at its link domain; null where none was asked for. */
  proofOf(project_id: number): string | null {
    const { read } = this.deps.database;
    const project = store.findProjectById(read, project_id);
    const key = this.#key.find(read);
    return project && key && proofWith(key, project);
  }

  /**
   * Asks within LINK_DOMAIN_CHECK_MS whether a project's link domain leads here, and records it. After two
   * failures in a row an active one is `failing`: links use the public URL until it leads here again. Returns
   * the project afterwards; null where it is gone.
   */
  async verify(project_id: number): Promise<ProjectRow | null> {
    const { database, logger } = this.deps;
    const asked = store.findProjectById(database.read, project_id);
    const name = asked?.link_domain ?? null;
    if (!asked || name === null) return asked;
    const problem = await this.#ask(asked, name);
    return await database.write((tx) => {
      const project = store.findProjectById(tx, project_id);
      if (project?.link_domain !== name) return project;
      const link_domain_status = statusAfter(project, problem);
      if (link_domain_status !== project.link_domain_status)
        logger.info('a link domain changed its status', { project_id, name, link_domain_status, problem });
      return store.updateProject(tx, project_id, { link_domain_status, link_domain_problem: problem });
    });
  }

  /** Asks of every project that has a link domain, one after the other. */
  async verifyAll(): Promise<void> {
    for (const { id } of store.listWithLinkDomain(this.deps.database.read)) await this.verify(id);
  }

  /** Projects with a link domain, by name. */
  list(): ProjectRow[] {
    return store.listWithLinkDomain(this.deps.database.read);
  }

  /** Why the name does not lead here; null where it does. */
  async #ask(project: ProjectRow, name: string): Promise<string | null> {
    const key = await this.#key.obtain(this.deps.database);
    if (!key) return 'the disk takes nothing at present';
    const url = new URL(PROOF_PATH, this.#urlOf(name));
    // Made anew, so that it remembers no look-up from before a change of the DNS.
    const found = await new Destinations({ ...this.deps, leads_here: true }).find(url);
    if ('refusal' in found) return found.refusal;
    const proof = proofWith(key, project);
    const signal = AbortSignal.timeout(LINK_DOMAIN_CHECK_MS);
    let problem: string | null = null;
    for (const address of found.addresses) {
      problem = await problemAt(address, { url, proof, signal });
      if (problem === null) return null;
    }
    return problem;
  }

  #urlOf(name: string): string {
    const { protocol, port } = new URL(this.deps.config.public_url);
    return `${protocol}//${name}${port && `:${port}`}`;
  }
}

function proofWith(key: Uint8Array, project: ProjectRow): string {
  return new Bun.CryptoHasher('sha256', key)
    .update(`link_domain\0${project.public_id}\0${project.link_domain}`)
    .digest('hex');
}

function statusAfter(
  { link_domain_status, link_domain_problem }: ProjectRow,
  problem: string | null,
): ProjectRow['link_domain_status'] {
  if (problem === null) return 'active';
  return link_domain_status === 'active' && link_domain_problem !== null ? 'failing' : link_domain_status;
}

/** Connects to an address that was checked, and looks for the proof there. */
async function problemAt(
  address: string,
  { url, proof, signal }: { url: URL; proof: string; signal: AbortSignal },
): Promise<string | null> {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  const port = url.port && `:${url.port}`;
  try {
    const response = await fetch(`${url.protocol}//${host}${port}${url.pathname}`, {
      headers: { host: url.host },
      redirect: 'manual',
      tls: { serverName: url.hostname },
      signal,
    });
    const answer = await readAtMost(response, MAX_ANSWER_BYTES);
    if (response.status !== 200) return `${url.host} answers ${response.status}: it leads to another server`;
    const [told, expected] = [Buffer.from(answer.trim()), Buffer.from(proof)];
    return told.length === expected.length && timingSafeEqual(told, expected)
      ? null
      : `${url.host} answers for another Satchel, or for another project`;
  } catch (error) {
    if (signal.aborted) return `${url.host} gave no answer within ${LINK_DOMAIN_CHECK_MS / 1_000} s`;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (isUntrusted(code))
      return `no authority that this machine trusts signed the certificate: ${TRUST_REMEDY}`;
    if (/CERT|TLS|SSL/.test(code)) return `there is no certificate for ${url.hostname} (${code})`;
    return `the connection to ${url.host} failed (${code || messageOf(error)})`;
  }
}

async function readAtMost(response: Response, bytes: number): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > bytes) break;
  }
  return text;
}

/** The columns of a link domain after a change: another one is yet to be asked. Throws as `checkLinkDomain` does. */
export function mergeLinkDomain(
  tx: Tx,
  current: ProjectRow,
  { link_domain: sent }: { link_domain?: string | null },
  public_url: string,
): Partial<ProjectRow> {
  if (sent === undefined) return {};
  const link_domain =
    sent === null ? null : checkLinkDomain(tx, sent, { project_id: current.id, public_url });
  if (link_domain === current.link_domain) return {};
  const link_domain_status = link_domain === null ? null : 'pending';
  return { link_domain, link_domain_status, link_domain_problem: null };
}

/** The link domain of an arriving project, not asked yet; none where its name may not be one here. */
export function arrivingLinkDomain(
  tx: Tx,
  name: unknown,
  public_url: string,
): Pick<ProjectRow, 'link_domain' | 'link_domain_status' | 'link_domain_problem'> {
  try {
    const link_domain = checkLinkDomain(tx, String(name ?? ''), { project_id: 0, public_url });
    return { link_domain, link_domain_status: 'pending', link_domain_problem: null };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { link_domain: null, link_domain_status: null, link_domain_problem: null };
  }
}

/** A link domain as it is stored. Throws AppError `invalid`, and `conflict` LINK_DOMAIN_TAKEN. */
function checkLinkDomain(tx: Tx, text: string, of: { project_id: number; public_url: string }): string {
  const name = canonicalDomain(text.replace(/\.$/, ''));
  const refuse = (message: string): never => {
    throw invalid({ link_domain: [message] });
  };
  if (name === null) return refuse('must be a host name such as links.example.com');
  if (isLoopback(name)) return refuse('must be a name that others reach');
  if (name === hostOf(new URL(of.public_url)))
    return refuse('must be another name than that of the public URL, which every project shares');
  const holder = store.findProjectAtLinkDomain(tx, name);
  if (holder !== null && holder !== of.project_id)
    throw conflict('Another project has this link domain. Choose another name.', {
      code: 'LINK_DOMAIN_TAKEN',
      errors: { link_domain: ['is already taken by another project'] },
    });
  return name;
}

export function projectChecks({ link_domains }: { link_domains: LinkDomains }): HealthCheck[] {
  const check = 'link domains';
  return [
    {
      check,
      run: () =>
        link_domains
          .list()
          .map(({ slug, link_domain, link_domain_status, link_domain_problem }) =>
            aside(
              slug,
              link_domain_problem === null && link_domain_status === 'active'
                ? ok(check, `${link_domain} leads here.`)
                : warning(
                    check,
                    `${link_domain} of the project ${slug} is ${link_domain_status}: ${link_domain_problem ?? 'nobody has asked yet'}.`,
                    `satchel project verify-links ${slug}`,
                  ),
            ),
          ),
    },
  ];
}
