// "Did you mean", for commands, which import nothing below the app.

export { nearest } from '../../common/nearest.ts';
