/** The archive of a list: what was sent to all of it, for anybody to read; which broadcasts are in it, and what it shows of them. */
import type { LinkDomains } from '../../access/projects/service.ts';
import type { FieldErrors } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Problem } from '../campaign-readiness.ts';
import { archiveUrl, type ListRow, type Lists, signUpUrl } from '../lists/service.ts';
import type { Mailing, MailOwner, MarketingMail } from '../mails/service.ts';
import { lackIf, type MarketingSettings } from '../settings/service.ts';
import { brandOf } from '../subscriptions/service.ts';
import type { BroadcastChanges } from './schemas.ts';
import * as store from './store.ts';
import type { BroadcastRow } from './tables.ts';

/** Contract: broadcasts on a page, and in the feed. */
const PER_PAGE = 20;

interface ArchiveDeps {
  database: Pick<Database, 'read'>;
  lists: Pick<Lists, 'findByArchiveToken'>;
  marketing: Pick<MarketingSettings, 'settings'>;
  marketing_mail: Pick<MarketingMail, 'pages'>;
  link_domains: Pick<LinkDomains, 'baseOf'>;
  projectOf(id: number): (MailOwner & { status: 'active' | 'inactive' }) | null;
}
export type ListArchive = NonNullable<ReturnType<Archive['find']>>;
/** Some of its broadcasts, newest first. */
export type Issues = NonNullable<ReturnType<Archive['issues']>>;

export class Archive {
  constructor(private readonly deps: ArchiveDeps) {}

  /**
   * The archive that a token opens; null where there is none (any more), and while its project is inactive. Without a page to sign up
   * by, `sign_up_url` is null.
   */
  find(token: string) {
    const { lists, projectOf, marketing, link_domains } = this.deps;
    const list = lists.findByArchiveToken(token);
    const owner = list && projectOf(list.project_id);
    if (!list || owner?.status !== 'active') return null;
    const settings = marketing.settings(owner.id);
    const base = link_domains.baseOf(owner.id);
    const sign_up_url = list.sign_up_page ? signUpUrl(base, list.public_id) : null;
    const brand = brandOf(settings, owner.name);
    return { list, owner, brand, settings, url: archiveUrl(base, list.public_id), sign_up_url };
  }

  /** Null for a page that there is none of; the first is there in any case. */
  issues({ list, url }: ListArchive, page = 1) {
    // One more tells whether there are older ones: a count would read all of them for each stranger.
    const rows = store.listArchived(this.deps.database.read, list.id, PER_PAGE + 1, (page - 1) * PER_PAGE);
    if (rows.length === 0 && page > 1) return null;
    const issues = rows.slice(0, PER_PAGE).map((row) => ({ ...row, url: issueUrl(url, row.id) }));
    return { issues, page, has_more: rows.length > PER_PAGE };
  }

  /** The HTML of a broadcast for anybody; null for one that is not in it. Throws what `MailPages` does. */
  async issue({ list, url, sign_up_url }: ListArchive, id: string): Promise<string | null> {
    const { database, marketing_mail } = this.deps;
    const row = store.findArchived(database.read, list.id, id.toUpperCase());
    if (!row) return null;
    const way_out = sign_up_url ?? url;
    const view_url = issueUrl(url, row.public_id);
    const links = { unsubscribe_url: way_out, preferences_url: way_out, view_url };
    return marketing_mail.pages.ofArchive({ ...sourceOf(database.read, row), links });
  }
}

const issueUrl = (archive_url: string, broadcast_id: string): string => `${archive_url}/${broadcast_id}`;

/** What shows a broadcast to anybody: of an A/B the winner's source. */
function sourceOf(read: Tx, { id, project_id, ab, winner, source_id, variables }: BroadcastRow) {
  const variant = ab === null ? null : store.listVariants(read, [id]).find((one) => one.variant === winner);
  const default_first_name = variables.default_first_name ?? '';
  return { project_id, source_id: variant?.source_id ?? source_id ?? 0, default_first_name };
}

/** What the archive lists one with that is sent. */
export function outlineOf(
  tx: Tx,
  pages: MarketingMail['pages'],
  row: BroadcastRow,
): Pick<BroadcastRow, 'title' | 'summary'> {
  const { default_first_name, ...source } = sourceOf(tx, row);
  return pages.outlineOf(tx, source, default_first_name);
}

/** Whether one is for it when sending begins: as somebody said, else where it is for all of a list that has one. */
export function isForArchive(
  { in_archive, is_test, filter, segment_id }: BroadcastRow,
  list: Pick<ListRow, 'archive'>,
): boolean {
  const is_for_all = segment_id === null && Object.keys(filter ?? {}).length === 0;
  return !is_test && (in_archive ?? (list.archive && is_for_all));
}

/** True of the one change that is taken in any status. */
export function isOfArchiveAlone(changes: BroadcastChanges): boolean {
  const { in_archive, ...others } = changes;
  return in_archive !== undefined && Object.values(others).every((each) => each === undefined);
}

/** What is wrong with what somebody says of one, by field. */
export function errorsInArchive(
  { started_at, is_test }: BroadcastRow,
  { in_archive }: BroadcastChanges,
): FieldErrors {
  if (started_at === null) return {};
  if (in_archive === null) return { in_archive: ['must be true or false once sending began'] };
  return is_test && in_archive
    ? { in_archive: ['must stay false: a test key sent it, whose broadcasts are in no archive'] }
    : {};
}

/** That the archive leaves one out, or would. `mailingOf` makes what a variant's mail is made from. */
export async function warningsOfArchive(
  deps: { database: Pick<Database, 'read'>; lists: Lists; marketing_mail: MarketingMail },
  row: BroadcastRow,
  mailingOf: (variant: string | null) => Mailing,
): Promise<Problem[]> {
  const { database, lists, marketing_mail } = deps;
  const list = lists.findById(row.list_id);
  if (!list || !isForArchive(row, list)) return [];
  const told = (is_left_out: boolean, what: string): Problem[] =>
    lackIf(
      is_left_out,
      'archive_no_value',
      `The archive of its list leaves it out: anybody reads it there, and ${what} has no value for them.`,
    );
  if (row.started_at !== null)
    return told(row.status === 'sent' && row.title === null, 'a merge field of it');
  const variants = row.ab?.variants ?? [{ name: null }];
  const lacks = variants.map(({ name }) => marketing_mail.lacksOfNobody(database.read, mailingOf(name)));
  const names = new Set((await Promise.all(lacks)).flat());
  return told(names.size > 0, [...names].map((name) => `{{${name}}}`).join(', '));
}
