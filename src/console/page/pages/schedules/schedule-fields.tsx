/** The fields of a schedule, for making one and for changing it; and what was entered, as the API takes it. */
import type { Schedule } from '../../api.generated.ts';
import { may } from '../../capabilities.ts';
import { area, choice, Fields, lines, optional, ownZone, text, words } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Advanced } from '../../components/page.tsx';
import { useAll } from '../../use-load.ts';
import { ContentFields, contentOf } from '../templates/content-fields.tsx';
import { WhenFields } from './when-fields.tsx';

const FIRST = { name: text('Name', { placeholder: 'Weekly report' }) };
const RECIPIENTS = {
  recipients: lines('Recipients', {
    rows: 3,
    placeholder: 'ann@example.org\nBen Example <ben@example.org>',
    hint: 'One on each line. Each gets a mail of its own.',
  }),
};
const furtherFields = (domains: readonly string[] = []) => ({
  from_name: optional('Name of the sender'),
  reply_to: optional('Answers go to'),
  cc: words('Cc', { hint: 'Of every mail of a run. Separated by commas.' }),
  bcc: words('Bcc', { hint: 'Separated by commas.' }),
  domain: optional('From the domain', {
    hint: 'Empty: what the project sends from, with fallback.',
    list: domains,
  }),
  missed_runs: choice('After a downtime', {
    skip: 'Leave out what was missed',
    run_once: 'Make up for it, once',
  }),
  description: area('Description', { rows: 2 }),
});

export function ScheduleFields({ project, of }: { project: string; of?: Schedule }) {
  const domains = useAll('GET /sending-domains', may('can_administer') ? { query: { project } } : null);
  const is_set =
    of !== undefined &&
    ([of.from_name, of.reply_to, of.domain, of.description, ...of.cc, ...of.bcc].some(Boolean) ||
      of.missed_runs !== 'skip');
  return (
    <>
      <Fields fields={FIRST} of={of} is_focused={!of} />
      <WhenFields project={project} expression={of?.cron_expression} timezone={of?.timezone ?? ownZone()} />
      <Fields fields={RECIPIENTS} of={{ recipients: of?.recipients.map(tellRecipient) }} />
      <ContentFields project={project} {...(of ? { of } : {})} />
      <Advanced title="Names, copies and missed runs" is_set={is_set}>
        <Fields fields={furtherFields(domains.data?.map(({ name }) => name))} of={of} />
      </Advanced>
    </>
  );
}

const WHEN = { cron_expression: text('Cron expression'), timezone: text('Time zone') };

export const scheduleOf = (entered: Entered) => ({
  ...entered.read({ ...FIRST, ...WHEN, ...furtherFields() }),
  recipients: entered.read(RECIPIENTS).recipients.map(readRecipient),
  ...contentOf(entered),
});

const tellRecipient = ({ email, name }: Schedule['recipients'][number]): string =>
  name ? `${name} <${email}>` : email;

/** `Ben Example <ben@example.org>`, or the address alone. */
function readRecipient(line: string): { email: string; name?: string } {
  const [, name = '', email = line] = /^(.*?)\s*<([^<>]*)>$/.exec(line) ?? [];
  return name === '' ? { email } : { email, name };
}
