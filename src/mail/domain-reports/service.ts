/**
 * What receivers report of mail in our domains' names (DMARC), and of the TLS of mail to them: who sends, and what fails. Anybody can
 * write such a report, so nothing acts on one.
 */

import { notFound } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, DAY_MS } from '../../platform/host/clock.ts';
import { about, type HealthCheck, warning } from '../../platform/host/health-check.ts';
import { named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';
import type { AggregateReport, ReportedSource } from '../../platform/mail/aggregate-reports.ts';
import type { SendingDomains } from '../sending-domains/service.ts';
import { senderOf } from './senders.ts';
import * as store from './store.ts';

/** Contract. */
export const DOMAIN_REPORTS_DAYS = 90;
export const MAX_REPORTS_PER_DAY = 200;
const SOURCES_SHOWN = 100;
const DEFAULT_DAYS = 30;
/** Decision: sources of a domain and a day that are told apart; the others count in its sums. */
export const MAX_SOURCES_PER_DAY = 2_000;

interface DomainReportsDeps {
  database: Database;
  clock: Clock;
  sending_domains: Pick<SendingDomains, 'findByName' | 'findDkimKey' | 'listRows'>;
}

export class DomainReports {
  constructor(private readonly deps: DomainReportsDeps) {}

  /**
   * Counts what a report says of our domains, within its transaction. Null where it says nothing of any, ends outside of the last
   * DOMAIN_REPORTS_DAYS, or is one too many of its day; one that came before counts nothing.
   */
  take(tx: Tx, report: AggregateReport): { told: { is_new: boolean }[] } | null {
    const today = this.#today();
    const ends_day = Math.floor(report.ends_at / DAY_MS);
    if (ends_day < today - DOMAIN_REPORTS_DAYS || ends_day > today + 1) return null;
    const names = new Set([
      ...report.sources.map(({ header_from }) => header_from),
      ...report.tls.map(({ domain }) => domain),
    ]);
    const told = [...names].flatMap((name) => {
      const domain = this.deps.sending_domains.findByName(tx, name);
      if (!domain || store.countArrived(tx, domain.id, today) >= MAX_REPORTS_PER_DAY) return [];
      const { organization, report_id, ends_at, policy } = report;
      const p = policy?.p;
      const added = store.insertReport(tx, {
        domain_id: domain.id,
        organization,
        report_id,
        ends_day,
        arrived_day: today,
        policy: p === 'none' || p === 'quarantine' || p === 'reject' ? p : null,
        ends_at,
      });
      if (added > 0) this.#count(tx, report, { domain_id: domain.id, name, day: ends_day });
      return [{ is_new: added > 0 }];
    });
    return told.length > 0 ? { told } : null;
  }

  #count(tx: Tx, report: AggregateReport, of: { domain_id: number; name: string; day: number }): void {
    const { domain_id, day, name } = of;
    let known = store.countSources(tx, domain_id, day);
    for (const source of report.sources) {
      if (source.header_from !== name) continue;
      const place = { domain_id, day, ip: source.ip };
      const is_full = known >= MAX_SOURCES_PER_DAY && !store.hasSource(tx, place);
      if (known < MAX_SOURCES_PER_DAY) known += 1;
      const ours = this.#oursOf(tx, source);
      store.addSource(tx, { ...source, ...place, ...(is_full && { ip: '' }), ours });
    }
    for (const { domain, reason, sessions } of report.tls)
      if (domain === name) store.addTls(tx, { domain_id, day, reason, sessions });
  }

  /** How many mails of a source passed DKIM with a key of ours. */
  #oursOf(tx: Tx, { signers, count }: ReportedSource): number {
    const ours = signers.filter(
      ({ domain, selector }) => this.deps.sending_domains.findDkimKey(tx, domain, selector) !== null,
    );
    return Math.min(
      count,
      ours.reduce((sum, signer) => sum + signer.count, 0),
    );
  }

  /** The reports of a domain's last days. Throws AppError `not_found`. */
  get(name: string, days = DEFAULT_DAYS): DomainReportsRecord {
    const { database, sending_domains } = this.deps;
    const { read } = database;
    const domain = sending_domains.findByName(read, name.toLowerCase());
    if (!domain) throw notFound('Sending domain', 'satchel domain list');
    const to = this.#today();
    const since = { domain_id: domain.id, day: to - days + 1 };
    const all = store.listSources(read, since);
    const sum = (of: (source: store.SourceNumbers) => number): number =>
      all.reduce((total, source) => total + of(source), 0);
    const tls = store.listTls(read, since);
    const failed = tls.filter(({ reason }) => reason !== 'success');
    const sessionsOf = (rows: readonly { sessions: number }[]): number =>
      rows.reduce((total, { sessions }) => total + sessions, 0);
    return {
      from: dayOf(since.day),
      to: dayOf(to),
      organizations: store.listOrganizations(read, since),
      total: sum(({ count }) => count),
      aligned: sum(({ aligned }) => aligned),
      policy: store.findPolicy(read, since),
      sources: all
        .filter(({ ip }) => ip !== '')
        .slice(0, SOURCES_SHOWN)
        .map((source) => presentSource(source, { header_from: domain.name, days })),
      tls: {
        sessions: sessionsOf(tls),
        failed: sessionsOf(failed),
        by_reason: Object.fromEntries(failed.map(({ reason, sessions }) => [reason, sessions])),
      },
    };
  }

  /** Of each domain, mails of the last week from sources of ours, and those of them that are not aligned. */
  listOwnMail(): { name: string; count: number; unaligned: number }[] {
    const { read } = this.deps.database;
    const day = this.#today() - 6;
    return this.deps.sending_domains.listRows(read).map(({ id, name }) => {
      const own = store.listSources(read, { domain_id: id, day }).filter(isOurs);
      const sum = (of: (source: store.SourceNumbers) => number): number =>
        own.reduce((total, source) => total + of(source), 0);
      return {
        name,
        count: sum(({ count }) => count),
        unaligned: sum(({ count, aligned }) => count - aligned),
      };
    });
  }

  /** Forgets reports whose time is over. */
  async sweep(): Promise<void> {
    const { database, sending_domains } = this.deps;
    const day = this.#today() - DOMAIN_REPORTS_DAYS;
    for (const { id } of sending_domains.listRows(database.read))
      await database.writePiece((tx) => store.deleteBefore(tx, id, day));
  }

  #today(): number {
    return Math.floor(this.deps.clock.now() / DAY_MS);
  }
}

function dayOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function isOurs({ count, ours }: store.SourceNumbers): boolean {
  return 2 * ours > count;
}

function presentSource(
  source: store.SourceNumbers & { ip: string },
  { header_from, days }: { header_from: string; days: number },
): DomainReportsRecord['sources'][number] {
  const { ip, count, dkim_aligned, spf_aligned, none, quarantine, reject } = source;
  return {
    ip,
    count,
    dkim_aligned,
    spf_aligned,
    disposition: { none, quarantine, reject },
    header_from,
    ours: isOurs(source),
    words: explain(source, days),
  };
}

/** Whose a source is, and what is to be done about it. */
function explain(source: store.SourceNumbers, days: number): string {
  const failing = source.count - source.aligned;
  const a_week = Math.max(1, Math.round((failing * 7) / days));
  const fail = a_week === 1 ? '1 mail a week fails' : `${a_week} mails a week fail`;
  if (isOurs(source))
    return failing === 0
      ? 'This server, by its relays: all is well.'
      : `This server, by its relays: ${fail}; what is wrong with the records: satchel domain verify.`;
  const named = senderOf(source.sender) ?? (source.sender && `The servers of ${source.sender}`);
  const other = named || 'Another sender';
  if (failing === 0) return `${other}, which may use this name: all is well.`;
  if (source.aligned > 0)
    return `${other}, which may use this name or passes mail on: ${fail}; have it sign with DKIM for this domain.`;
  const stopped = source.reject + source.quarantine >= failing;
  return `${named || 'Somebody whose mail never passes'}: ${fail}; if it is a service of yours, add its DKIM or stop it, else ${stopped ? 'receivers hold it back already' : 'a policy of quarantine or reject holds it back'}.`;
}

/** Contract: of so many mails of a week, one in so many that is not aligned. */
const ENOUGH_MAILS = 100;
const ONE_IN = 20;

export function domainReportChecks({ domain_reports }: { domain_reports: DomainReports }): HealthCheck[] {
  const check = 'domain reports';
  return [
    {
      check,
      run: () =>
        domain_reports
          .listOwnMail()
          .filter(({ count, unaligned }) => count >= ENOUGH_MAILS && unaligned * ONE_IN >= count)
          .map(({ name, count, unaligned }) =>
            about(
              'sending_domain',
              name,
              warning(
                check,
                `${name}: receivers report that ${unaligned} of ${count} mails of the last week from this server's relays passed neither DKIM nor SPF in its name.`,
                `satchel domain verify ${name}; satchel domain reports ${name}`,
              ),
            ),
          ),
    },
  ];
}

const number = (description?: string) => t.Integer(description === undefined ? {} : { description });
const day = () => t.String({ format: 'date', description: 'A day in UTC.' });

const source = t.Object({
  ip: t.String(),
  count: number(),
  dkim_aligned: number(),
  spf_aligned: number(),
  disposition: t.Object({ none: number(), quarantine: number(), reject: number() }),
  header_from: t.String(),
  ours: t.Boolean({ description: 'More than half of it passes DKIM with a key of this server.' }),
  words: t.String({ description: 'Whose it is, and what is to be done about it, in one sentence.' }),
});

export const domainReportsRecord = named(
  'SendingDomainReports',
  t.Object({
    from: day(),
    to: day(),
    organizations: t.Array(t.String(), { description: 'Who reported.' }),
    total: number('Mails in the name of the domain.'),
    aligned: number('Of these, those that passed DKIM or SPF in the name of the domain.'),
    policy: nullable(oneOf(['none', 'quarantine', 'reject'])),
    sources: t.Array(source, { description: 'Most mails first, at most 100.' }),
    tls: t.Object({
      sessions: number(),
      failed: number(),
      by_reason: t.Record(t.String(), t.Integer()),
    }),
  }),
);
export type DomainReportsRecord = Static<typeof domainReportsRecord>;
export const daysQuery = t.Object({
  days: t.Optional(t.Integer({ minimum: 1, maximum: 90, description: 'The last days. Default 30.' })),
});
