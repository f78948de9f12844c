/** Before there is a project: what somebody may have come for, and a project to look around in. */
import { ActionButton } from '../../components/action-button.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Panel } from '../../components/page.tsx';
import { hrefOf } from '../../router.ts';
import { person } from '../../session.ts';
import { makeSample } from '../projects/sample.ts';

/** Purposes of a first project, by the word in the address of its form. */
const CHOICES: readonly { purpose: string; icon: IconName; title: string; told: string }[] = [
  {
    purpose: 'files',
    icon: 'files',
    title: 'Store files',
    told: 'Pictures, documents and downloads of an app, at addresses that stay.',
  },
  {
    purpose: 'mail',
    icon: 'mail',
    title: 'Send mail',
    told: 'Receipts, sign-in links and notices, each with its story: sent, delivered, opened, bounced.',
  },
  {
    purpose: 'newsletter',
    icon: 'broadcast',
    title: 'Write a newsletter',
    told: 'People who sign up, letters to all of them, and sequences that follow one another.',
  },
  {
    purpose: 'secrets',
    icon: 'vault',
    title: 'Keep secrets',
    told: 'Passwords and keys of an app, encrypted, and ready as its .env file.',
  },
];

export function FirstChoices() {
  return (
    <div class="stack">
      <Panel
        title="What would you like to do first?"
        lead="Each begins with a project: one for each of your apps. The rest is there whenever you want it."
        flush
      >
        <ul class="choices">
          {CHOICES.map(({ purpose, icon, title, told }) => (
            <li key={purpose}>
              <a href={hrefOf(`/projects/new?for=${purpose}`)}>
                <Icon name={icon} size={20} />
                <strong>{title}</strong>
                <span class="muted">{told}</span>
              </a>
            </li>
          ))}
        </ul>
      </Panel>
      {person.value?.can_administer && (
        <Panel title="Or look around first">
          <p class="muted">
            A sample project has a mailbox that keeps what is sent and mails nobody, a template and a mail to
            look at. It is removed in one click.
          </p>
          <div>
            <ActionButton act={makeSample}>Make the sample project</ActionButton>
          </div>
        </Panel>
      )}
    </div>
  );
}
