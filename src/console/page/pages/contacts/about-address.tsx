/** All that a project holds about one address, on lists or not: to be given out, or forgotten. */
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { saveFile } from '../../components/button-link.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { inWords } from '../../components/in-labels.ts';
import { Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';

export function AboutAddress(props: { project: string; email: string; onForget(): void }) {
  const { project, email, onForget } = props;
  const asked = { path: { project }, body: { address: email } };
  const save = async (): Promise<void> => {
    const held = await call('POST /projects/{project}/email-addresses/held', asked);
    saveFile(new Blob([JSON.stringify(held, null, 2)], { type: 'application/json' }), `${email}.json`);
  };
  const forget = async (): Promise<void> => {
    const forgotten = await call('POST /projects/{project}/email-addresses/forget', asked);
    const told = Object.entries(forgotten).flatMap(([what, many]) =>
      many > 0 ? [`${inWords(what)} (${many})`] : [],
    );
    toast(told.length === 0 ? 'There was nothing to forget' : `Forgotten: ${told.join(', ')}`);
    onForget();
  };
  return (
    <Panel
      title={`All about ${email}`}
      lead="On whatever list, and beside them: its mails in the log, events, sequences, broadcasts and suppression."
    >
      <div class="row">
        <ActionButton is_for_readers act={save}>
          Save what is held
        </ActionButton>
        <ConfirmByName title="Forget the address" name={email} act={forget}>
          <p>
            Its contacts are deleted with their events and enrollments, and its mails in the log are emptied.
            A suppression stays, as a hash, so that nobody mails it again by mistake; so do uploaded files and
            backups.
          </p>
        </ConfirmByName>
      </div>
    </Panel>
  );
}
