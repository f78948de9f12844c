/** Deleting a key. */
import { call } from '../../api.ts';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { Panel } from '../../components/panel.tsx';
import { counted } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';
import { navigate, to } from '../../router.ts';
import type { KeyPartProps } from './key-part.ts';

export function KeyEnd({ path, of }: KeyPartProps) {
  const remove = async (): Promise<void> => {
    await call('DELETE /projects/{project}/api-keys/{apiKey}', { path });
    toast(`Key ${of.name} is deleted`);
    navigate(to`/projects/${path.project}/keys`, { replace: true });
  };
  return (
    <Panel title="Delete the key" tone="danger" lead="Files and mails that were made with it stay.">
      <ConfirmByName title="Delete the key" name={of.name} act={remove}>
        <p>
          {of.origins_count > 0 && `With it go ${counted(of.origins_count, 'origin')}. `}
          Apps that use it are refused at once, and it cannot be brought back.
        </p>
      </ConfirmByName>
    </Panel>
  );
}
