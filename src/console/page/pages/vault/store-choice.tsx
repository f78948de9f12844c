/** Storing a secret: what it is of leads to the fields of that. */
import { Dialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/page.tsx';
import { navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';

export function StoreChoice({ project, onClose }: { project: string; onClose(): void }) {
  const load = useLoad('GET /vault/services', {});
  const go = async (entered: Entered): Promise<void> => {
    const service = entered.text('service');
    const part = service === 'env' ? '?add' : '?tab=set';
    navigate(`${to`/projects/${project}/vault/${service}`}${part}`);
  };
  return (
    <Dialog title="Store a secret" onClose={onClose}>
      <Loaded load={load}>
        {(services) => (
          <Form is_fleeting submit="Go on" onSubmit={go} onCancel={onClose}>
            <SelectField
              name="service"
              label="What it is of"
              value="env"
              choices={[
                ['env', 'An environment variable'],
                ...services
                  .filter(({ free_form }) => !free_form)
                  .map(({ service, label }) => [service, label] as const),
              ]}
            />
          </Form>
        )}
      </Loaded>
    </Dialog>
  );
}
