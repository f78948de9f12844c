/** Trying several subjects of a broadcast on a part of its people, before the rest gets the best: an A/B test. */
import { useState } from 'preact/hooks';
import type { AbPlan, AbTest } from '../../api.generated.ts';
import { CheckField, SelectField } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';
import { RowsField } from '../sequences/rows-field.tsx';
import { newUid } from '../sequences/step-draft.ts';

interface Variant {
  uid: number;
  subject: string;
  preheader: string;
}

const NAMES = ['A', 'B', 'C', 'D', 'E'];
const HOURS = { share: '20', decide_after_hours: '4' };

const empty = (): Variant => ({ uid: newUid(), subject: '', preheader: '' });

/** The fields of a test, which `readAb` reads. */
export function AbFields({ of }: { of: AbTest | null | undefined }) {
  const [is_on, setOn] = useState(of != null);
  const [decide_by, setDecideBy] = useState<string>(of?.decide_by ?? 'clicks');
  const [variants, setVariants] = useState<Variant[]>(
    () =>
      of?.variants.map(({ subject = '', preheader = '' }) => ({ uid: newUid(), subject, preheader })) ?? [
        empty(),
        empty(),
      ],
  );
  return (
    <>
      <CheckField
        name="ab_on"
        label="Try several variants first"
        hint="A part of the people gets one subject each. The rest gets the one that most people clicked in."
        is_checked={is_on}
        onChange={setOn}
      />
      {is_on && (
        <>
          <RowsField
            name="ab.variants"
            label="Subjects"
            noun={['a', 'variant']}
            of={variants}
            makeRow={empty}
            onChange={setVariants}
            cells={(variant, index, set) => (
              <>
                <input
                  class="input"
                  name={`ab_subject_${index}`}
                  aria-label={`Subject of variant ${NAMES[index] ?? index + 1}`}
                  placeholder={index === 0 ? 'The template’s own' : 'Another subject'}
                  value={variant.subject}
                  onInput={(event) => set({ subject: event.currentTarget.value })}
                />
                <input
                  class="input"
                  name={`ab_preheader_${index}`}
                  aria-label={`Preheader of variant ${NAMES[index] ?? index + 1}`}
                  placeholder="Preheader, as the broadcast's"
                  value={variant.preheader}
                  onInput={(event) => set({ preheader: event.currentTarget.value })}
                />
              </>
            )}
            hint="Two to five. What is left empty is as in the broadcast."
          />
          <TextField
            name="ab.share"
            label="Percent of the people who try them"
            type="number"
            value={String(of?.share ?? HOURS.share)}
            hint="5 to 50, for all variants together."
          />
          <SelectField
            name="ab.decide_by"
            label="The rest gets"
            value={decide_by}
            onChange={setDecideBy}
            choices={[
              ['clicks', 'The one with the most clicks, by itself'],
              ['manual', 'The one that I choose'],
            ]}
          />
          {decide_by === 'clicks' && (
            <TextField
              name="ab.decide_after_hours"
              label="Hours until then"
              type="number"
              value={String(of?.decide_after_hours ?? HOURS.decide_after_hours)}
              hint="1 to 168, from when the part has been sent."
            />
          )}
        </>
      )}
    </>
  );
}

/** Null where none is wanted. What is out of bounds is left to the API to refuse. */
export function readAb(entered: Entered): AbPlan | null {
  if (!entered.flag('ab_on')) return null;
  const variants = entered.names('ab_subject_').map((name, index) => {
    const subject = entered.text(name);
    const preheader = entered.text(`ab_preheader_${index}`);
    const variant = { name: NAMES[index] ?? String(index + 1) };
    return { ...variant, ...(subject && { subject }), ...(preheader && { preheader }) };
  });
  const is_by_clicks = entered.text('ab.decide_by') !== 'manual';
  return {
    variants,
    share: Number(entered.text('ab.share')),
    decide_by: is_by_clicks ? 'clicks' : 'manual',
    ...(is_by_clicks && { decide_after_hours: Number(entered.text('ab.decide_after_hours')) }),
  };
}
