/** The fields that there are to be merged into a mail, in groups. */
import { useLoad } from '../../use-load.ts';
import { mergeFieldsOf } from '../templates/merge-fields.ts';
import type { Words } from './words.ts';

export interface FieldGroup {
  title: string;
  fields: { name: string; says: string | null }[];
}

const CONTACT = [
  { name: 'first_name', says: 'or “there”' },
  { name: 'last_name', says: null },
  { name: 'email', says: null },
];
const LINKS = [
  { name: 'unsubscribe_url', says: 'where they leave' },
  { name: 'preferences_url', says: 'what they get' },
  { name: 'view_url', says: 'in the browser' },
];
const SENDER = [
  { name: 'brand_name', says: null },
  { name: 'from_name', says: null },
  { name: 'postal_address', says: null },
];

/** Of marketing what a contact of the list has; of a template what it declares and uses. */
export function useFieldGroups(of: {
  project: string;
  list: string | null;
  is_marketing: boolean;
  words: Words;
  /** Values that the step or broadcast gives. */
  given: readonly string[];
}): FieldGroup[] {
  const { project, list, is_marketing, words, given } = of;
  const facets = useLoad(
    'GET /projects/{project}/email-lists/{list}/facets',
    list === null ? null : { path: { project, list } },
  );
  const custom = (facets.data?.custom ?? []).map(({ name, count }) => ({
    name: `custom.${name}`,
    says: `${count} have it`,
  }));
  const standing = new Set([...CONTACT, ...LINKS, ...SENDER, ...custom].map(({ name }) => name));
  const own = [
    ...given.map((name) => ({ name, says: 'a value of this mail' })),
    ...mergeFieldsOf(words).map(({ name, description }) => ({ name, says: description })),
  ].filter(({ name }, index, all) => all.findIndex((each) => each.name === name) === index);
  const groups = is_marketing
    ? [
        { title: 'The contact', fields: CONTACT },
        { title: 'Their own fields', fields: custom },
        { title: 'Links', fields: LINKS },
        { title: 'The sender', fields: SENDER },
        { title: 'Of this mail', fields: own.filter(({ name }) => !standing.has(name)) },
      ]
    : [
        {
          title: 'Fields',
          fields: own.length > 0 ? own : [{ name: 'name', says: 'each send gives its value' }],
        },
      ];
  return groups.filter(({ fields }) => fields.length > 0);
}
