/** An address for each page, with the sample data: what pages.test.ts opens and scripts/screenshots takes pictures of. */
import type { Sample } from './sample-data.ts';

export interface SamplePage {
  /** Of the picture, and of the test. */
  name: string;
  /** As pages.ts has it. */
  pattern: string;
  path(sample: Sample): string;
}

export const SAMPLE_PAGES: readonly SamplePage[] = [
  { name: 'sign-in', pattern: '/sign-in', path: () => '/sign-in' },
  { name: 'welcome', pattern: '/welcome/:token', path: () => '/welcome/no-such-link' },
  { name: 'account', pattern: '/account', path: () => '/account' },
  { name: 'overview', pattern: '/', path: () => '/' },
  { name: 'projects', pattern: '/projects', path: () => '/projects' },
  { name: 'projects-nothing-found', pattern: '/projects', path: () => '/projects?q=nowhere' },
  { name: 'project-new', pattern: '/projects/new', path: () => '/projects/new' },
  { name: 'project', pattern: '/projects/:project', path: ({ project }) => `/projects/${project}` },
  { name: 'project-empty', pattern: '/projects/:project', path: () => '/projects/bakery' },
  { name: 'project-hostile', pattern: '/projects/:project', path: () => '/projects/hostile' },
  {
    ...{ name: 'project-settings', pattern: '/projects/:project/settings' },
    path: ({ project }) => `/projects/${project}/settings`,
  },
  {
    ...{ name: 'keys', pattern: '/projects/:project/keys' },
    path: ({ project }) => `/projects/${project}/keys`,
  },
  { name: 'keys-empty', pattern: '/projects/:project/keys', path: () => '/projects/bakery/keys' },
  {
    ...{ name: 'key-new', pattern: '/projects/:project/keys/new' },
    path: ({ project }) => `/projects/${project}/keys/new`,
  },
  {
    ...{ name: 'key', pattern: '/projects/:project/keys/:key' },
    path: ({ project, key }) => `/projects/${project}/keys/${key}`,
  },
  {
    ...{ name: 'files', pattern: '/projects/:project/files' },
    path: ({ project }) => `/projects/${project}/files`,
  },
  { name: 'files-empty', pattern: '/projects/:project/files', path: () => '/projects/bakery/files' },
  {
    ...{ name: 'file', pattern: '/projects/:project/files/:file' },
    path: ({ project, picture }) => `/projects/${project}/files/${picture}`,
  },
  {
    ...{ name: 'file-hostile', pattern: '/projects/:project/files/:file' },
    path: ({ project, file }) => `/projects/${project}/files/${file}`,
  },
];
