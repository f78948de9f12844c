/** A project to look around in: its mail is captured by a mailbox of its own, so that nobody gets any. */
import type { NewTemplate, Project } from '../../api.generated.ts';
import { ApiError, call } from '../../api.ts';
import { navigate, to } from '../../router.ts';

/** RFC 2606 keeps `.test` for this: nobody has mail there. */
const DOMAIN = 'sample.test';
const ADDRESS = `hello@${DOMAIN}`;
const SLUG = 'sample';

const TEMPLATE: NewTemplate = {
  name: 'Welcome',
  category: 'welcome',
  subject: 'Welcome, {{name}}',
  body_markdown:
    '# Hello {{name}}\n\nThis mail was written in Markdown and went nowhere: the sample’s mailbox keeps what is sent.',
  variables: [{ name: 'name', required: true }],
};

export function isSample({ sending_domain }: Pick<Project, 'sending_domain'>): boolean {
  return sending_domain === DOMAIN;
}

/** Goes on where it was broken off: what is there already stays. */
export async function makeSample(): Promise<void> {
  await unlessThere(call('POST /sending-domains', { body: { name: DOMAIN, is_trusted: true } }));
  await unlessThere(call('POST /mailboxes', { body: { address: ADDRESS, capture: true } }));
  await unlessThere(
    call('POST /projects', {
      body: {
        name: 'Sample',
        slug: SLUG,
        description: 'To look around in. Its mail reaches nobody.',
        sending_domain: DOMAIN,
        sending_domains: [DOMAIN],
      },
    }),
  );
  const path = { project: SLUG };
  await unlessThere(call('POST /projects/{project}/email-templates', { path, body: TEMPLATE }));
  await call('POST /projects/{project}/emails/send', {
    path,
    body: { to: 'ann@example.com', template: 'welcome', variables: { name: 'Ann' } },
  });
  navigate(to`/projects/${SLUG}`);
}

/** The project with all that is in it, then what it was sent by; goes on where it was broken off, too. */
export async function removeSample(project: Project): Promise<void> {
  await call('DELETE /projects/{project}', { path: { project: project.public_id } });
  await call('DELETE /sending-domains/{name}', { path: { name: DOMAIN } });
  navigate('/');
}

async function unlessThere(making: Promise<unknown>): Promise<void> {
  try {
    await making;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
}
