/** Sending a step's mail to oneself. */
import type { Step } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { TestDialog } from '../marketing/test-dialog.tsx';

export function TestStep(props: {
  path: { project: string; sequence: string };
  step: Step;
  onClose(): void;
}) {
  const { path, step, onClose } = props;
  const send = (to: string) =>
    call('POST /projects/{project}/email-sequences/{sequence}/steps/{key}/test', {
      path: { ...path, key: step.key },
      body: { to },
    });
  return (
    <TestDialog project={path.project} title={`Send a test of ${step.key}`} send={send} onClose={onClose}>
      As it is saved, with sample values, and marked as a test in its subject. It goes out at once; nobody
      moves on, and nothing of it counts.
    </TestDialog>
  );
}
