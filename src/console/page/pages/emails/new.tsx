/** Sending a mail by hand: now, or at a time. */

import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { Advanced } from '../../components/advanced.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useAll } from '../../use-all.ts';
import { wayToSetUp } from '../set-up-sending/next.ts';
import { ContentFields, contentOf } from '../templates/content-fields.tsx';

const OPTIONAL = ['to_name', 'from', 'from_name', 'reply_to'] as const;
const LISTS = ['cc', 'bcc', 'attachments'] as const;

export default function NewEmailPage({ params }: PageProps<'project'>) {
  const list = to`/projects/${params.project}/emails`;
  const query = { project: params.project };
  const mailboxes = useAll('GET /mailboxes', may('can_administer') ? { query } : null);
  const send = async (entered: Entered): Promise<void> => {
    const { template, variables, subject, body_html, body_text } = contentOf(entered);
    const at = entered.text('scheduled_at');
    const { id } = await call('POST /projects/{project}/emails/send', {
      path: params,
      body: {
        to: entered.text('to'),
        ...(template === null ? { subject: subject ?? '' } : { template, variables }),
        ...(body_html !== null && { body_html }),
        ...(body_text !== null && { body_text }),
        ...given(OPTIONAL, (name) => entered.textOrNull(name)),
        ...given(LISTS, (name) => {
          const words = entered.words(name);
          return words.length > 0 ? words : null;
        }),
        ...(at && { scheduled_at: new Date(at).toISOString() }),
      },
    });
    toast(at ? 'The mail is scheduled' : 'The mail is queued');
    navigate(to`/projects/${params.project}/emails/${id}`);
  };
  return (
    <>
      <PageHeader
        title="Send a mail"
        lead={
          <>
            A real mail, to one person, from a{' '}
            {may('can_administer') ? <a href={hrefOf('/mailboxes')}>mailbox</a> : 'mailbox'} of this Satchel.
            It stands in the log as any other.
          </>
        }
        back={{ href: hrefOf(list), label: 'Mail log' }}
      />
      {mailboxes.data?.length === 0 && (
        <div class="notice warn">
          <p>
            Nothing can go out yet: no mailbox sends for this project.{' '}
            <a href={hrefOf(wayToSetUp(`${list}/new`))}>Set up sending</a>
          </p>
        </div>
      )}
      <Panel>
        <Form is_wide keep={list} submit="Send" onSubmit={send} onCancel={() => navigate(list)}>
          <TextField name="to" label="To" type="email" placeholder="ann@example.org" is_focused />
          <ContentFields project={params.project} />
          <TextField
            name="scheduled_at"
            label="Send at"
            type="datetime-local"
            hint="In your own time zone. Empty: now."
          />
          <Advanced title="Names, copies and attachments">
            <TextField name="to_name" label="Name of the recipient" />
            <TextField name="from_name" label="Name of the sender" />
            <TextField
              name="from"
              label="From the mailbox"
              placeholder="hello@shop.example.com"
              list={mailboxes.data?.map(({ address }) => address) ?? []}
              hint="It goes out from that mailbox or not at all. Empty: what the project sends from, with fallback."
            />
            <TextField name="reply_to" label="Answers go to" />
            <TextField name="cc" label="Cc" hint="Separated by commas." />
            <TextField name="bcc" label="Bcc" hint="Separated by commas." />
            <TextField
              name="attachments"
              label="Attachments"
              hint="Ids of files of this project, separated by commas."
              is_mono
            />
          </Advanced>
        </Form>
      </Panel>
    </>
  );
}

/** The fields that were filled in. */
function given<Name extends string, T>(
  names: readonly Name[],
  read: (name: Name) => T | null,
): Partial<Record<Name, T>> {
  const filled: Partial<Record<Name, T>> = {};
  for (const name of names) {
    const value = read(name);
    if (value !== null) filled[name] = value;
  }
  return filled;
}
