/** Builds the filter of a list's contacts, which stands in the address beside what is searched for. */
import { useState } from 'preact/hooks';
import type { ContactFilter } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { setQuery, useQuery } from '../../router.ts';
import { addressOf, filterIn, queryOf } from './filter.ts';
import { FilterRows } from './filter-rows.tsx';
import { Matching } from './matching.tsx';

export function FilterButton({ path }: { path: { project: string; list: string } }) {
  const now = filterIn(useQuery());
  const [built, setBuilt] = useState<ContactFilter | null>(null);
  const close = (): void => setBuilt(null);
  const show = async (): Promise<void> => {
    // What is no filter is told here, beside its field.
    const query = { ...queryOf(built ?? {}), per_page: 1 };
    await call('GET /projects/{project}/email-lists/{list}/contacts', { path, query });
    setQuery(addressOf(built ?? {}));
    close();
  };
  return (
    <>
      <button type="button" class="button" onClick={() => setBuilt(now)}>
        Conditions
      </button>
      {built && (
        <Dialog title="Who is shown" onClose={close} is_wide>
          <Form is_fleeting is_for_readers submit="Show them" onSubmit={show} onCancel={close}>
            <FilterRows list={path} of={now} onChange={setBuilt} />
            <Matching {...path} filter={built} />
          </Form>
        </Dialog>
      )}
    </>
  );
}
