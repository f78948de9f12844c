/** Shows all that the log knows of a mail, with links. */
import type { Email, EmailStory } from '../../api.generated.ts';
import { Facts, Panel } from '../../components/page.tsx';
import { Bytes } from '../../components/quantity.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { isOwnSlug } from '../writing/words.ts';

export function EmailFacts({ project, email }: { project: string; email: EmailStory }) {
  const { template, job_id } = email;
  const facts: (readonly [string, preact.ComponentChildren])[] = [
    ['To', withName(email.to, email.to_name)],
    ['From', withName(email.from_email, email.from_name)],
    ['Cc', email.cc.join(', ')],
    ['Bcc', email.bcc.join(', ')],
    ['Reply to', email.reply_to],
    ['Due', email.scheduled_at && <Time at={email.scheduled_at} exact />],
    [
      'Template',
      template && !isOwnSlug(template) && (
        <a href={hrefOf(to`/projects/${project}/templates/${template}`)}>{template}</a>
      ),
    ],
    ['Attached', email.attachments.length > 0 && <Attachments project={project} of={email.attachments} />],
    ['Refused for', email.refused.length > 0 && <Refused of={email.refused} />],
    ['App', email.app_id],
    ['Sent from', email.ip],
    ['Program', email.user_agent],
    ['Job', job_id && <a href={hrefOf(to`/projects/${project}/jobs/${job_id}`)}>{job_id}</a>],
    ['Id', <code key="id">{email.id}</code>],
    ['Message-ID', <code key="message_id">{email.message_id}</code>],
  ];
  return (
    <Panel title="About">
      <Facts of={facts.filter(([, value]) => value)} />
    </Panel>
  );
}

function withName(address: string, name: string | null): string {
  return name ? `${name} <${address}>` : address;
}

function Attachments({ project, of }: { project: string; of: EmailStory['attachments'] }) {
  return (
    <ul>
      {of.map((file) => (
        <li key={file.public_id} class="row">
          <a href={hrefOf(to`/projects/${project}/files/${file.public_id}`)}>{file.filename}</a>
          <span class="muted">
            <Bytes of={file.size_bytes} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Refused({ of }: { of: EmailStory['refused'] }) {
  return (
    <ul>
      {of.map(({ address, response }) => (
        <li key={address}>
          {address} <span class="muted">{response}</span>
        </li>
      ))}
    </ul>
  );
}

/** The status of a mail; of one that nobody got, that it was captured here. */
export function MailStatus({ of }: { of: Email }) {
  if (!of.captured) return <Status of={of.status} />;
  return (
    <span class="row">
      <Status of={of.status} tone="neutral" />
      <Badge tone="warn">kept here</Badge>
    </span>
  );
}
