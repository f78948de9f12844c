/** What keeps all marketing mail of a project from going out, whatever it says and to whom: one rule a lack. */
import type { MailboxDnsCheck } from '../../mail/sending-domains/service.ts';
import type { Settings } from './schemas.ts';

export interface Lack {
  /** Stable, for programs. */
  code: string;
  message: string;
}

export interface OutletFacts {
  settings: Settings;
  /** Of each mailbox that the project's marketing may go out from, where it is asked; null where all of them capture. */
  mailboxes: readonly MailboxDnsCheck[] | 'not_looked_up' | null;
  /** Why none of these mailboxes takes mail now, whatever its records; null where one does. */
  problem_of_mailboxes: string | null;
  /** Why links in its mails would lead nowhere; null where they lead here. */
  problem_of_links: string | null;
}

export const lackIf = (is_there: boolean, code: string, message: string): Lack[] =>
  is_there ? [{ code, message }] : [];

/** Of the settings: that it may go out at all, and who it is from. */
export function senderLacks({ enabled, from_name, postal_address }: Settings): Lack[] {
  return [
    ...lackIf(
      !enabled,
      'marketing_disabled',
      'Marketing is not enabled: set enabled in the marketing settings.',
    ),
    ...lackIf(from_name === null, 'no_from_name', 'The marketing settings have no from_name.'),
    ...lackIf(postal_address === null, 'no_postal_address', 'The marketing settings have no postal_address.'),
  ];
}

/** Of what it goes out from, and where its links lead. */
export function outletLacks(facts: OutletFacts): Lack[] {
  const { problem_of_links } = facts;
  return [...mailboxLacks(facts), ...lackIf(problem_of_links !== null, 'public_url', problem_of_links ?? '')];
}

function mailboxLacks({ mailboxes, problem_of_mailboxes }: OutletFacts): Lack[] {
  // The records of a mailbox that captures are not looked up, but its domain must be in use all the same.
  if (mailboxes === null)
    return lackIf(
      problem_of_mailboxes !== null,
      'no_mailbox',
      `${problem_of_mailboxes} Try it without DNS records: satchel domain trust NAME. See: satchel mailbox list`,
    );
  if (mailboxes === 'not_looked_up') return [];
  if (mailboxes.length === 0)
    return [
      {
        code: 'no_mailbox',
        message:
          'No active mailbox is for marketing: satchel mailbox add ADDRESS --smtp RELAY --for marketing',
      },
    ];
  if (mailboxes.some(({ spf, dkim, dmarc }) => spf.ok && dkim.ok && dmarc.ok)) return [];
  // Mailboxes of one domain have the same records, and so the same problems.
  const told = Map.groupBy(mailboxes, (records) => {
    const wrong = (['spf', 'dkim', 'dmarc'] as const).filter((kind) => !records[kind].ok);
    const problems = Map.groupBy(wrong, (kind) => records[kind].problem ?? 'There is no such record.');
    const words = [...problems].map(([problem, kinds]) => `${kinds.join(', ').toUpperCase()}: ${problem}`);
    return words.join(' ');
  });
  const words = [...told].map(
    ([problems, of]) => `${of.map(({ address }) => address).join(', ')}: ${problems}`,
  );
  return [
    {
      code: 'mailbox_dns',
      message: `No marketing mailbox has SPF, DKIM and DMARC in place. ${words.join(' ')} See: satchel domain verify NAME`,
    },
  ];
}
