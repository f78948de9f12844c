/** The fields of a schedule, for making one and for changing it; and what was entered, as the API takes it. */

import type { NewSchedule, Schedule } from '../../api.generated.ts';
import { may } from '../../capabilities.ts';
import { Advanced } from '../../components/advanced.tsx';
import type { Entered } from '../../components/form.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { ownZone } from '../../components/zone-field.tsx';
import { useAll } from '../../use-all.ts';
import { ContentFields, contentOf } from '../templates/content-fields.tsx';
import { WhenFields } from './when-fields.tsx';

export function ScheduleFields({ project, of }: { project: string; of?: Schedule }) {
  const domains = useAll('GET /sending-domains', may('can_administer') ? { query: { project } } : null);
  const is_set =
    of !== undefined &&
    ([of.from_name, of.reply_to, of.domain, of.description, ...of.cc, ...of.bcc].some(Boolean) ||
      of.missed_runs !== 'skip');
  return (
    <>
      <TextField name="name" label="Name" value={of?.name} placeholder="Weekly report" is_focused={!of} />
      <WhenFields project={project} expression={of?.cron_expression} timezone={of?.timezone ?? ownZone()} />
      <TextAreaField
        name="recipients"
        label="Recipients"
        rows={3}
        value={of?.recipients.map(({ email, name }) => (name ? `${name} <${email}>` : email)).join('\n')}
        placeholder={'ann@example.org\nBen Example <ben@example.org>'}
        hint="One on each line. Each gets a mail of its own."
      />
      <ContentFields project={project} {...(of ? { of } : {})} />
      <Advanced title="Names, copies and missed runs" is_set={is_set}>
        <TextField name="from_name" label="Name of the sender" value={of?.from_name} />
        <TextField name="reply_to" label="Answers go to" value={of?.reply_to} />
        <TextField
          name="cc"
          label="Cc"
          value={of?.cc.join(', ')}
          hint="Of every mail of a run. Separated by commas."
        />
        <TextField name="bcc" label="Bcc" value={of?.bcc.join(', ')} hint="Separated by commas." />
        <TextField
          name="domain"
          label="From the domain"
          value={of?.domain}
          hint="Empty: what the project sends from, with fallback."
          list={domains.data?.map(({ name }) => name) ?? []}
        />
        <SelectField
          name="missed_runs"
          label="After a downtime"
          value={of?.missed_runs ?? 'skip'}
          choices={[
            ['skip', 'Leave out what was missed'],
            ['run_once', 'Make up for it, once'],
          ]}
        />
        <TextAreaField name="description" label="Description" rows={2} value={of?.description} />
      </Advanced>
    </>
  );
}

export function scheduleOf(entered: Entered) {
  const missed_runs: NewSchedule['missed_runs'] =
    entered.text('missed_runs') === 'run_once' ? 'run_once' : 'skip';
  return {
    name: entered.text('name'),
    cron_expression: entered.text('cron_expression'),
    timezone: entered.text('timezone'),
    recipients: entered.lines('recipients').map(readRecipient),
    ...contentOf(entered),
    from_name: entered.textOrNull('from_name'),
    reply_to: entered.textOrNull('reply_to'),
    cc: entered.words('cc'),
    bcc: entered.words('bcc'),
    domain: entered.textOrNull('domain'),
    description: entered.textOrNull('description'),
    missed_runs,
  };
}

/** `Ben Example <ben@example.org>`, or the address alone. */
function readRecipient(line: string): { email: string; name?: string } {
  const [, name = '', email = line] = /^(.*?)\s*<([^<>]*)>$/.exec(line) ?? [];
  return name === '' ? { email } : { email, name };
}
