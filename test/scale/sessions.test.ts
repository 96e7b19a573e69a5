// Sessions of workers on one machine, connected by the process that started them.
import { Replicas } from '../support/replicas.ts';
import { testSessions } from './support/session-suite.ts';

testSessions(async () => new Replicas());
