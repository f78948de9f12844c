/** Pages of no project, each by its path. They are loaded together. */
export { default as '/account' } from './account/home.tsx';
export { default as '/welcome/:token' } from './gate/welcome.tsx';
export { default as '/' } from './home/home.tsx';
export { default as '/projects/import' } from './projects/import.tsx';
export { default as '/projects' } from './projects/list.tsx';
export { default as '/projects/new' } from './projects/new.tsx';
