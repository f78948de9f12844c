/** Sending a broadcast's mail to oneself. */
import { call } from '../../api.ts';
import { TestDialog } from '../marketing/test-dialog.tsx';

export function SendTest(props: { path: { project: string; broadcast: string }; onClose(): void }) {
  const { path, onClose } = props;
  const send = (to: string) =>
    call('POST /projects/{project}/email-broadcasts/{broadcast}/test', { path, body: { to } });
  return (
    <TestDialog project={path.project} title="Send a test" send={send} onClose={onClose}>
      With sample values, and marked as a test in its subject. It goes out at once, and nothing of it counts.
    </TestDialog>
  );
}
